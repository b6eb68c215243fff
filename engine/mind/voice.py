"""Events and memories told to one viewer, in the names it has for others."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from engine.mind.aliases import YOU, names_for, true_names
from engine.mind.perception import SHOUT, WHISPER, loudness
from engine.mind.render import NOBODY, capital, joined, render
from engine.mind.timewords import naturalize_time
from engine.mind.whereabouts import where
from engine.records.base import EntityId, PlaceId
from engine.records.intents import Intent, Outcome
from engine.records.memory import BufferEntry, Grasp, LedgerEntry, NewBufferEntry, NewLedgerEntry
from engine.records.tokens import referred
from engine.records.world import World

Event = BufferEntry | NewBufferEntry | Intent
Names = Mapping[EntityId, str]
"""What the viewer calls each entity: all that the text mentions, or more."""


class Told(NamedTuple):
    """An event or a memory as a section shows it."""

    when: str
    """Its time words, which it stands under, with a capital."""
    item: str
    """A line of the list, and further in those that belong to it."""


_LOUD_WORDS = frozenset(
    {"whispering", "whispered", "whisper", "in a whisper", "shouting", "shouted", "shout", "yelling", "loudly", "saying", "speaking"}
)
_PLAIN = re.compile(r"[a-z][a-z'\u2019-]*(?: [a-z'\u2019-]+){0,3}")
_SENTENCE_END = (".", "!", "?", "\u2026", '."', '!"', '?"', ".\u201d", "!\u201d", "?\u201d")
_COMMON_START = re.compile(
    r"(?:The|A|An|It|There|That|This|You|Your|He|She|They|Nobody|Nothing|No|Somebody|Someone|Only|One)(?=\s)"
)  # fmt: skip
_QUOTES = '"\u201c\u201d'


def mentioned(event: Event, outcome: Outcome | None = None) -> tuple[EntityId, ...]:
    """Entities that telling the event names, each once. `outcome` is given with an intent only."""
    intent, own_outcome, grasp, _ = _parts(event)
    outcome = own_outcome or outcome
    if grasp == "faint":
        return ()
    text = " ".join((intent.summary, intent.text, f"{outcome.reason} {outcome.finding}" if outcome else ""))
    return tuple(dict.fromkeys((intent.actor, *intent.targets, *referred(text))))


def tell(
    world: World,
    viewer_id: EntityId | None,
    event: Event,
    names: Names | None = None,
    *,
    outcome: Outcome | None = None,
    grasp: Grasp = "full",
    place: PlaceId | None = None,
) -> str:
    """One event as one sentence for one viewer, or with true names for the narrator (None).

    A buffer entry brings outcome, grasp and place with it; for an intent they are given. `names` must cover `mentioned(event)`
    when given: pass one mapping for a whole text, so that those who look alike are told apart throughout.
    """
    intent, own_outcome, own_grasp, own_place = _parts(event)
    outcome, place = own_outcome or outcome, own_place or place
    grasp = own_grasp if own_grasp != "full" else grasp
    if grasp == "faint":
        return _faint(world, place)
    if names is None:
        names = names_of(world, viewer_id, mentioned(event, outcome))
    actor = YOU if intent.actor == viewer_id else names.get(intent.actor, NOBODY)
    if intent.type == "dialogue":
        return capital(_speech(world, intent, viewer_id, actor, names, grasp))
    if intent.type == "monologue":
        if viewer_id is not None and viewer_id != intent.actor:  # nobody reads thoughts; an entry like that is a fault, not a leak
            return capital(f"{actor} was deep in thought.")
        return capital(f"{actor} thought: {render(intent.text, names)}")
    return capital(_deed(intent, viewer_id, actor, names, outcome))


def names_of(world: World, viewer_id: EntityId | None, ids: Iterable[EntityId]) -> dict[EntityId, str]:
    """Distinct names for a viewer, or true names for the narrator (None)."""
    return true_names(world, ids) if viewer_id is None else names_for(world, viewer_id, ids)


def _parts(event: Event) -> tuple[Intent, Outcome | None, Grasp, PlaceId | None]:
    if isinstance(event, Intent):
        return event, None, "full", event.place
    return event.intent, event.outcome, event.grasp, event.intent.place or event.location_id


def _faint(world: World, place: PlaceId | None) -> str:
    found = world.places.get(place or "")
    return f"Somebody was speaking{' ' + where(found) if found else ''}, but the words did not carry."


def _speech(world: World, intent: Intent, viewer_id: EntityId | None, actor: str, names: Names, grasp: Grasp) -> str:
    loud = loudness(intent)
    whom = joined([YOU if target == viewer_id else names.get(target, NOBODY) for target in intent.targets])
    to = f" to {whom}" if whom else ""
    past_me = viewer_id is not None and viewer_id != intent.actor and viewer_id not in intent.targets
    if grasp == "seen" or (loud == WHISPER and past_me):
        return f"{actor} whispered something{to}."
    verb = "whispered" if loud == WHISPER else "shouted" if loud == SHOUT else "spoke" if to else "said"
    return f"{actor} {verb}{to}{_manner(world, intent)}: {_quoted(intent.text, names)}"


def _quoted(words: str, names: Names) -> str:
    """Speech in quotation marks, which it gets only once."""
    text = render(words, names)
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES and not any(mark in text[1:-1] for mark in _QUOTES):
        text = text[1:-1].strip()
    return f'"{text}"'


def _manner(world: World, intent: Intent) -> str:
    """Modifiers that say how, after a comma. Only plain lower-case words: they come from the actor's prose, which may name others."""
    plain = (" ".join(modifier.split()) for modifier in intent.modifiers)
    shown = [
        each
        for each in dict.fromkeys(plain)
        if each not in _LOUD_WORDS and _PLAIN.fullmatch(each) and not any(word in world.entities for word in each.split())
    ]
    return f", {joined(shown)}" if shown else ""


def _deed(intent: Intent, viewer_id: EntityId | None, actor: str, names: Names, outcome: Outcome | None) -> str:
    """`You wiped the counter. (Outcome: succeeded)`. Why it failed is for the actor and the narrator only."""
    what = render(intent.summary, names) or "did something"
    sentence = f"{actor} {what}{'' if what.endswith(_SENTENCE_END) else '.'}"
    if outcome is None:
        return sentence
    if outcome.is_valid:
        found = render(outcome.finding, names).rstrip(" .") if viewer_id in (None, intent.actor) else ""
        return f"{sentence} (Outcome: succeeded, {found})" if found else f"{sentence} (Outcome: succeeded)"
    reason = render(outcome.reason, names).rstrip(" .") if viewer_id in (None, intent.actor) else ""
    reason = _COMMON_START.sub(lambda match: match.group(0).lower(), reason, count=1) if reason else ""
    return f"{sentence} (Outcome: failed, {reason})" if reason else f"{sentence} (Outcome: failed)"


def events_section(
    world: World, viewer_id: EntityId, entries: Sequence[BufferEntry | NewBufferEntry], now: datetime, names: Names | None = None
) -> str:
    """Body of RECENT EVENTS: entries in order of time under their time words. Empty for no entries."""
    if names is None:
        names = names_for(world, viewer_id, (id_ for entry in entries for id_ in mentioned(entry)))
    ordered = sorted(entries, key=lambda entry: (entry.timestamp, entry.seq if isinstance(entry, BufferEntry) else 0))
    return grouped(told_event(world, viewer_id, entry, now, names) for entry in ordered)


def told_event(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry, now: datetime, names: Names) -> Told:
    """A buffer entry as RECENT EVENTS shows it."""
    return Told(capital(naturalize_time(now, entry.timestamp)), f"  - {tell(world, viewer_id, entry, names)}")


def memories_section(
    world: World, viewer_id: EntityId, entries: Sequence[LedgerEntry | NewLedgerEntry], now: datetime, names: Names | None = None
) -> str:
    """Body of YOUR MEMORIES: ledger entries in order of time under their time words, quotes on lines of their own."""
    if names is None:
        names = names_for(world, viewer_id, (id_ for entry in entries for id_ in remembered(entry)))
    ordered = sorted(entries, key=lambda entry: (entry.timestamp, entry.seq if isinstance(entry, LedgerEntry) else 0))
    return grouped(told_memory(entry, now, names) for entry in ordered)


def told_memory(entry: LedgerEntry | NewLedgerEntry, now: datetime, names: Names) -> Told:
    """A ledger entry as YOUR MEMORIES shows it."""
    return Told(capital(naturalize_time(now, entry.timestamp)), "  - " + "\n    ".join(recount(entry, names)))


def remembered(entry: LedgerEntry | NewLedgerEntry) -> tuple[EntityId, ...]:
    """Entities that recounting the entry names, each once."""
    return referred(" ".join((entry.content, *entry.quotes)))


def recount(entry: LedgerEntry | NewLedgerEntry, names: Names) -> list[str]:
    """A ledger entry as lines: the account, marked when it was only thought, then each quote."""
    thought = " (Only a thought.)" if entry.mode == "thought" else ""
    return [
        capital(render(entry.content, names)) + thought,
        *(f"Quote: {_quoted(quote, names)}" for quote in entry.quotes if quote.strip(_QUOTES + " ")),
    ]


def grouped(items: Iterable[Told]) -> str:
    """The body of a section: what is told, in the order given, under its time words. Empty for nothing."""
    lines: list[str] = []
    group = ""
    for when, item in items:
        if when != group:
            lines.append(when)
            group = when
        lines.append(item)
    return "\n".join(lines)
