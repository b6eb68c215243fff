"""The present moment in words, as one entity perceives it: the sections that every beat's prompt begins with."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from engine.mind.aliases import names_for
from engine.mind.perception import Senses, reach
from engine.mind.render import render
from engine.mind.whereabouts import where
from engine.records.base import EntityId
from engine.records.prompts import KnownThing, Section
from engine.records.sessions import SessionId
from engine.records.tokens import referred
from engine.records.world import Entity, Portal, World
from engine.world.access import is_awake, visible_attributes
from engine.world.clock import present_words

_ASIDE = ("name", "label", "appearance", "status")


def lower_first(text: str) -> str:
    """The text with its first letter small, unless that word is all capitals or `I`."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    keep = (len(first) > 1 and first.isupper()) or first in ("I", "I'm") or not first
    return text if keep else text[0].lower() + text[1:]


class Scene:
    """One viewer's present: what it senses and how it names that. Computed once, used by all sections."""

    def __init__(self, world: World, viewer: EntityId, also: Iterable[EntityId] = ()) -> None:
        """`also` are entities that the same text mentions: those who look alike are told apart among all of them."""
        self.world = world
        self.me: Entity = world.entities[viewer]
        self.senses: Senses = reach(world, viewer)
        self.around = self.senses.around
        """Everybody and everything that can be pointed at, nearest first."""
        self._also = tuple(also)

    @cached_property
    def names(self) -> dict[EntityId, str]:
        """What the viewer calls those around and mentioned."""
        return names_for(self.world, self.me.id, [*self.around, *self._also])

    def name(self, entity: EntityId) -> str:
        """What the viewer calls `entity`, distinct among those around and mentioned."""
        if entity in self.names:
            return self.names[entity]
        return names_for(self.world, self.me.id, [entity])[entity]

    def say(self, text: str) -> str:
        """Stored text on one line with its reference tokens as the viewer's names."""
        return render(text, {i: self.name(i) for i in referred(text)})

    def place(self) -> str:
        """`in the taproom. A long low room.`"""
        found = self.world.places.get(self.me.place or "")
        return f"{where(found)}. {self.say(found.description)}".rstrip() if found else "nowhere."

    def looks(self, entity: EntityId) -> str:
        """What the viewer can see of another, for a list: `: a thin woman in a soaked coat (asleep)`."""
        other = self.world.entities[entity]
        known = visible_attributes(other, self.me.id)
        parts = [lower_first(known["appearance"].strip().rstrip("."))] if known.get("appearance") else []
        parts += [f"{k.replace('_', ' ')}: {v}" for k, v in known.items() if k not in _ASIDE and other.attributes[k].public]
        status = "" if is_awake(other) or not other.agent else f" ({known.get('status', 'asleep')})"
        text = "; ".join(self.say(part) for part in parts)
        return (f": {text}" if text else "") + status

    def way(self, portal: Portal) -> str:
        """`the street door, open, to the quay`"""
        onward = self.world.places[portal.leads(self.me.place or "") or portal.b]
        return f"{portal.name}, {portal.state}, to {onward.name}"

    def ways(self) -> list[Portal]:
        """Portals one can leave by."""
        return self.world.exits(self.me.place) if self.me.place else []


def _block(title: str, lines: Iterable[str]) -> str:
    items = "\n".join(f"  - {line}" for line in lines)
    return f"{title}\n{items}" if items else ""


def moment(scene: Scene) -> Section:
    """This moment: the time in words, the place, what is carried."""
    lines = [present_words(scene.world.now), f"You are {scene.place()}"]
    if scene.senses.carried:
        lines.append("You carry: " + ", ".join(scene.name(i) for i in scene.senses.carried) + ".")
    return Section(key="moment", title="This moment", text="\n".join(lines))


def perceived(scene: Scene) -> Section:
    """What you perceive: who and what is here, who is seen beyond, the ways out."""
    senses = scene.senses
    blocks = [
        _block("Here with you:", (scene.name(i) + scene.looks(i) for i in senses.here)) or (
            "It is too dark to see." if senses.dark else "You are alone."
        ),
        _block("Things here:", (scene.name(i) + scene.looks(i) for i in senses.things)),
        _block("Beyond:", (f"{scene.name(i)}, {where(scene.world.places[p])}" for _, p, ids in senses.beyond for i in ids)),
        _block("Ways out:", (scene.way(portal) for portal in scene.ways())),
    ]
    return Section(key="senses", title="What you perceive", text="\n".join(b for b in blocks if b))


def identity(scene: Scene) -> Section:
    """Who you are: every attribute that the character may know of itself, and how it speaks."""
    known = visible_attributes(scene.me, scene.me.id)
    first = [k for k in ("name", "appearance") if k in known]
    rest = [k for k in known if k not in _ASIDE]
    lines = [f"{k.replace('_', ' ').capitalize()}: {scene.say(known[k])}" for k in [*first, *rest]]
    if scene.me.voice:
        lines += ["You speak like this:", *(f'  "{" ".join(line.split())}"' for line in scene.me.voice)]
    return Section(key="self", title="Who you are", text="\n".join(lines), why_empty="" if lines else "nothing is written about it")


def intentions(scene: Scene, pursued: Sequence[tuple[SessionId, str]] = ()) -> Section:
    """What you mean to do: goals, habits, and lines on what is in hand with those here, each with the session it is from."""
    blocks = [
        _block("Goals:", (scene.say(goal) for goal in scene.me.goals)),
        _block("Habits:", (scene.say(habit) for habit in scene.me.habits)),
        _block("In hand:", (line for _, line in pursued)),
    ]
    text = "\n".join(b for b in blocks if b)
    return Section(
        key="intentions", title="What you mean to do", text=text, sources=tuple(dict.fromkeys(key for key, _ in pursued)),
        why_empty="" if text else "no goals, no habits, nothing in hand with those here",
    )


def told_of(scene: Scene) -> list[KnownThing]:
    """Private attributes of those around that the viewer was told of or has learned, other than their names."""
    found = []
    for entity in scene.around:
        other = scene.world.entities[entity]
        for name, attribute in other.attributes.items():
            if name not in _ASIDE and not attribute.public and attribute.may_know(scene.me.id):
                text = f"{scene.name(entity)}, {name.replace('_', ' ')}: {attribute.value}"
                found.append(KnownThing(source=f"{entity}/{name}", text=text))
    return found
