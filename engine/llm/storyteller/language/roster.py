"""Who, what and which ways a prompt lists by handle."""

import re
from dataclasses import dataclass, field

from engine.llm.storyteller.language.names import Names, head_noun

_WHO = re.compile(r"^\[?(P\d+)\]?: (.+?)(?: \(([^()]*)\))?(?:: (?P<looks>.*?))?(?: \((?P<status>asleep|unconscious|dead|inactive)\))?$")
_WAY = re.compile(r"^\[?(L\d+)\]?: (.+), (open|closed|locked|\w+), to (.+)$")


@dataclass(frozen=True, slots=True)
class Listed:
    """A person or thing with its handle."""

    handle: str
    name: str
    thing: bool = False
    carried: bool = False
    """Carried by the actor."""
    beyond: str = ""
    """Where it is, when it is not here."""
    me: bool = False
    status: str = ""
    """`asleep`, `dead` and the like; empty when awake, and for things."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way out with its handle."""

    handle: str
    door: str
    state: str
    place: str


@dataclass(frozen=True)
class Roster:
    """All handles of one prompt."""

    listed: tuple[Listed, ...] = ()
    ways: tuple[Way, ...] = ()
    names: Names = field(default_factory=lambda: Names({}))

    @property
    def me(self) -> Listed | None:
        """The actor."""
        return next((one for one in self.listed if one.me), None)

    def get(self, handle: str) -> Listed | None:
        """The person or thing of a handle."""
        return next((one for one in self.listed if one.handle == handle), None)

    @property
    def others(self) -> list[Listed]:
        """People other than the actor, those here first."""
        people = [one for one in self.listed if not one.me and not one.thing]
        return sorted(people, key=lambda one: bool(one.beyond))


def read_roster(who: str, ways: str = "") -> Roster:
    """The roster of a prompt from its section of people and things and its section of ways."""
    listed = [one for line in who.splitlines() if (one := _listed(line.strip()))]
    if listed and not any(one.me for one in listed) and listed[0].handle == "P1":
        first = listed[0]
        listed[0] = Listed(first.handle, first.name, me=True)
    found = [Way(m[1], m[2], m[3], m[4]) for line in ways.splitlines() if (m := _WAY.match(line.strip()))]
    return Roster(tuple(listed), tuple(found), Names({one.handle: [one.name] for one in listed if one.name != "you"}))


def _listed(line: str) -> Listed | None:
    match = _WHO.match(line)
    if match is None:
        return None
    handle, name, flags = match[1], match[2], match[3] or ""
    asleep = flags if flags in ("asleep", "unconscious", "dead", "inactive") else ""
    me = name == "you" or name.startswith("you, ")
    beyond = re.search(r"\bbeyond(?:, (?:(?:in|on|at) )?(.+))?", flags)
    return Listed(
        handle=handle,
        name=name.removeprefix("you, ") if me else name,
        thing="thing" in flags.split(", "),
        carried="carried by you" in flags,
        beyond=(beyond[1] or "beyond") if beyond else "",
        me=me,
        status=match["status"] or asleep,
    )


def way_names(way: Way) -> tuple[str, str]:
    """The nouns a way may be called by: of its door, of its place."""
    return head_noun(way.door).casefold(), head_noun(way.place).casefold()
