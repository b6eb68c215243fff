"""An actor's prompt read back into what the character is, senses, means, knows and remembers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.actor.events import Event, read_events, uncapital
from engine.llm.storyteller.actor.goals import Goal, read_goal
from engine.llm.storyteller.language.names import is_name
from engine.llm.storyteller.language.persons import gender_of
from engine.llm.storyteller.language.speechacts import stems_of
from engine.records.prompts import split_sections

_ITEM = re.compile(r"^  - (.+)$", re.MULTILINE)
_STATUS = re.compile(r" \((asleep|unconscious|dead|inactive)\)$")
_WAY = re.compile(r"^(?P<door>.+), (?P<state>open|closed|locked), to (?P<place>.+)$")
_PLACE = re.compile(r"^You are (?P<where>in|on|at|aboard|by|near|under|inside|outside)? ?(?P<rest>.+)$", re.MULTILINE)
_CARRY = re.compile(r"^You carry: (.+)\.$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody perceived."""

    name: str
    """As the character names that one: `the wet stranger` or `Gareth`."""
    looks: str = ""
    status: str = ""
    where: str = ""
    """`on the quay`, when seen beyond a way; empty when here."""

    @property
    def awake(self) -> bool:
        """Whether that one can be spoken to."""
        return not self.status

    @property
    def known(self) -> bool:
        """Whether the character knows a name for that one."""
        return is_name(self.name)


@dataclass(frozen=True, slots=True)
class Exit:
    """A way out."""

    door: str
    state: str
    place: str


@dataclass(frozen=True, slots=True)
class Recollected:
    """One memory."""

    when: str
    text: str
    quotes: tuple[str, ...] = ()
    thought: bool = False


@dataclass(frozen=True)
class Scene:
    """All that a character has to go by."""

    name: str
    """Its own name; empty when it does not know one."""
    traits: dict[str, str]
    """What is written of it, by lower-case title."""
    voice: tuple[str, ...]
    hour: str
    """The time in words: `It is early evening, the first day of March.`"""
    place: str
    where: str
    """`in`, `on`, `at`."""
    description: str
    carried: tuple[str, ...]
    dark: bool
    here: tuple[Person, ...]
    things: tuple[str, ...]
    beyond: tuple[Person, ...]
    ways: tuple[Exit, ...]
    goal_lines: tuple[str, ...]
    habits: tuple[str, ...]
    knowledge: tuple[str, ...]
    memories: tuple[Recollected, ...]
    events: tuple[Event, ...]

    @cached_property
    def gender(self) -> str:
        """`she`, `he` or `they`, from what is written of the character."""
        return gender_of(" ".join([self.traits.get("appearance", ""), *self.traits.values(), *self.habits]))

    @cached_property
    def people(self) -> tuple[str, ...]:
        """Names of all people it perceives or remembers lately, longest first."""
        names = [one.name for one in (*self.here, *self.beyond)]
        names += [name for event in self.events for name in (event.who, *event.whom)]
        unique = dict.fromkeys(name for name in names if name and name not in ("you", "somebody"))
        return tuple(sorted(unique, key=lambda name: (-len(name), name)))

    @cached_property
    def _people_pattern(self) -> re.Pattern[str]:
        names = {*self.people, self.name, *self.name.split(), *(word for one in self.people if is_name(one) for word in one.split())}
        ordered = sorted(filter(None, names), key=lambda name: (-len(name), name))
        return re.compile("|".join(rf"\b{re.escape(name)}\b" for name in ordered) or r"(?!)", re.IGNORECASE)

    def matter(self, text: str) -> frozenset[str]:
        """Stems of what a text is about, the people it names aside."""
        return stems_of(self._people_pattern.sub(" ", text))

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """What it means to do, in the order written."""
        return tuple(read_goal(line, self.people) for line in self.goal_lines)

    @cached_property
    def awake_here(self) -> tuple[Person, ...]:
        """Who can be spoken to."""
        return tuple(one for one in self.here if one.awake)

    @property
    def time(self) -> str:
        """The time in words, lower case."""
        return self.hour.lower()

    @property
    def late(self) -> bool:
        """Whether it is a time to sleep."""
        return bool(re.search(r"\b(?:night|midnight)\b", self.time))

    @property
    def deep_night(self) -> bool:
        """Whether it is past midnight."""
        return "midnight" in self.time or "before dawn" in self.time

    def person(self, name: str) -> Person | None:
        """Somebody here by name."""
        return next((one for one in self.here if one.name.casefold() == name.casefold()), None)


def read_scene(request: ModelRequest) -> Scene:
    """The scene of a request of task `actor`. Missing sections leave their parts empty."""
    sections: dict[str, str] = {}
    for message in request.messages:
        sections |= split_sections(message.content)
    traits, voice = _self(sections.get("WHO YOU ARE", ""))
    moment = sections.get("THIS MOMENT", "")
    senses = sections.get("WHAT YOU PERCEIVE", "")
    intentions = sections.get("WHAT YOU MEAN TO DO", "")
    here, beyond = tuple(map(_person, _block(senses, "Here with you"))), tuple(map(_person_beyond, _block(senses, "Beyond")))
    memories = _memories(sections.get("YOUR MEMORIES", ""))
    where, place, description = _place(moment)
    carried = _CARRY.search(moment)
    events = sections.get("RECENT EVENTS", "").partition("\nWhat do you do now?")[0]
    seen = [one.name for one in (*here, *beyond)]
    return Scene(
        name=traits.get("name", ""),
        traits=traits,
        voice=voice,
        hour=moment.split("\n", 1)[0].strip(),
        place=place,
        where=where,
        description=description,
        carried=tuple(one.strip() for one in carried[1].split(",")) if carried else (),
        dark="It is too dark to see." in senses,
        here=here,
        things=tuple(line.split(":", 1)[0] for line in _block(senses, "Things here")),
        beyond=beyond,
        ways=tuple(Exit(m["door"], m["state"], m["place"]) for line in _block(senses, "Ways out") if (m := _WAY.match(line))),
        goal_lines=tuple(_block(intentions, "Goals")),
        habits=tuple(_block(intentions, "Habits")),
        knowledge=tuple(" ".join(line.split()) for line in _ITEM.findall(sections.get("WHAT YOU KNOW", ""))),
        memories=memories,
        events=tuple(read_events(events, _names_for_reading(seen, events))),
    )


def _names_for_reading(seen: Sequence[str], events: str) -> list[str]:
    spoken = re.findall(r"^  - (.+?) (?:spoke|whispered|said|shouted)\b", events, re.MULTILINE)
    names = dict.fromkeys([*seen, *(uncapital(name) for name in spoken if name not in ("You", "Somebody") and len(name) < 60)])
    return sorted(names, key=lambda name: (-len(name), name))


def _block(section: str, title: str) -> list[str]:
    match = re.search(rf"^{title}:\n((?:  - .*(?:\n|$))+)", section, re.MULTILINE)
    return _ITEM.findall(match[1]) if match else []


def _self(section: str) -> tuple[dict[str, str], tuple[str, ...]]:
    facts, _, samples = section.partition("You speak like this:")
    split = (line.partition(":") for line in facts.splitlines())
    traits = {title.strip().lower(): value.strip() for title, _, value in split if value.strip()}
    return traits, tuple(re.findall(r'^  "(.+)"$', samples, re.MULTILINE))


def _person(line: str) -> Person:
    status = _STATUS.search(line)
    text = line[: status.start()] if status else line
    name, _, looks = text.partition(": ")
    return Person(name, looks, status[1] if status else "")


def _person_beyond(line: str) -> Person:
    match = re.match(r"^(?P<name>.+), (?P<where>(?:in|on|at|aboard|by|near|under|inside|outside) .+|nowhere.*)$", line)
    return Person(match["name"], where=match["where"]) if match else Person(line, where="there")


def _place(moment: str) -> tuple[str, str, str]:
    match = _PLACE.search(moment)
    if match is None:
        return "in", "this place", ""
    name, _, description = match["rest"].partition(". ")
    return match["where"] or "in", name.rstrip("."), " ".join(description.split())


def _memories(section: str) -> tuple[Recollected, ...]:
    found: list[Recollected] = []
    when = ""
    for line in section.splitlines():
        if line.startswith("  - "):
            text = re.sub(r"\s*\(Outcome: [^)]*\)", "", line[4:]).strip()
            thought = text.endswith("(Only a thought.)")
            found.append(Recollected(when, text.removesuffix("(Only a thought.)").strip(), thought=thought))
        elif line.startswith("    Quote: ") and found:
            last = found[-1]
            found[-1] = Recollected(last.when, last.text, (*last.quotes, line[11:].strip('"')), last.thought)
        elif line and not line.startswith(" "):
            when = line.strip().lower()
    return tuple(found)
