"""How names are learned: by rule, from speech that was perceived in full (DESIGN 5)."""

import re
from collections.abc import Iterator

from engine.mind.aliases import known_name
from engine.mind.labels import is_name
from engine.mind.spoken import core, is_part, name_at
from engine.records.base import EntityId
from engine.records.memory import AliasCause, BufferEntry, NewBufferEntry
from engine.records.world import World
from engine.world.index import entities_at

Lesson = tuple[EntityId, str, AliasCause]

_APOSTROPHE = "['\u2019]"
_REFUSED = re.compile(r"(?:\b(?:not|never|stop|dare)\b|n['\u2019]t\b)[^.!?]{0,12}$", re.IGNORECASE)
_SELF = re.compile(
    rf"\b(?:(?:I{_APOSTROPHE}m|I am)(?: called| known as)?|I go by|my name is|my name{_APOSTROPHE}s|(?:the )?name{_APOSTROPHE}s|"
    r"the name is|call me|(?:they|people|folks?|most|some|everyone|everybody|all) calls? me)\s+(?:just |plain )?",
    re.IGNORECASE,
)
_SELF_AFTER = re.compile(r"^,? (?:is my name|they call me|at your service)\b", re.IGNORECASE)
_OTHER = re.compile(
    rf"\b(?:this is|this here is|that is|that{_APOSTROPHE}s|meet|(?:his|her|their) name is|(?:his|her|their) name{_APOSTROPHE}s|"
    rf"(?:may i |let me |allow me to )?(?:present|introduce)|(?:he|she)(?: is|{_APOSTROPHE}s) called)\s+",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?\u2026\u2014;:,]['\"\u201d\u2019)]*)\s*['\"\u201c\u2018(]*")
_GREETING = re.compile(
    r"(?:^|[.!?\u2026]\s+)(?:good (?:day|morning|evening|afternoon|night)|hello|hail|hey|hi|ho|oi|greetings|welcome(?: back)?|evening|"
    r"morning|thanks|thank you|goodbye|farewell|sorry|please|well met|come on|yes|no|aye|nay|listen|look|oh|ah|wait|easy),?\s+",
    re.IGNORECASE,
)
_VOCATIVE_END = re.compile(r"\s*(?:[,.!?\u2026;:\u2014-]|$)")


def learned(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry) -> list[Lesson]:
    """Names that the viewer learns from one perceived line, as (whom, name as spoken, cause), each target at most once.

    Three kinds of evidence: somebody gives its own name (`introduction`), is addressed by a name, or is introduced by
    another (`overheard`). A lie is believed. A name that the viewer has already, or a part of it, teaches nothing.
    """
    intent = entry.intent
    if intent.type != "dialogue" or entry.grasp != "full" or intent.actor == viewer_id:
        return []
    text = " ".join(intent.text.split())
    found: dict[EntityId, Lesson] = {}
    for lesson in (*_own_names(world, intent.actor, text), *_introduced(world, viewer_id, entry, text), *_addressed(world, entry, text)):
        target, name, _ = lesson
        if target == viewer_id or target not in world.entities or not _is_news(world, viewer_id, target, name):
            continue
        before = found.get(target)
        if before is None or (before[2] == lesson[2] and len(core(name)) > len(core(before[1]))):
            found[target] = lesson
    return list(found.values())


def _is_news(world: World, viewer_id: EntityId, target: EntityId, name: str) -> bool:
    """Whether the name says more than what the viewer calls the target already."""
    present = known_name(world, viewer_id, target)
    if present is None or not (is_name(present) or name.casefold() != present.casefold()):
        return present is None
    if is_part(name, present) and (is_name(present) or core(name) == core(present)):
        return False
    true = world.entities[target].value("name") or ""
    both_parts = bool(true) and is_part(present, true) and is_part(name, true)
    return not both_parts or len(core(name)) > len(core(present))  # else Bryn and Harrow would take turns


def _own_names(world: World, speaker: EntityId, text: str) -> Iterator[Lesson]:
    for match in _SELF.finditer(text):
        if _REFUSED.search(text[: match.start()]):
            continue
        given = name_at(text, match.end())
        if given and not _asked(text, given[1]) and not _is_place(world, given[0]):
            yield speaker, given[0], "introduction"
    for start in _clause_starts(text):
        given = name_at(text, start)
        if given and _SELF_AFTER.match(text[given[1] :]):
            yield speaker, given[0], "introduction"


def _asked(text: str, end: int) -> bool:
    return text[end : end + 1] == "?"


def _clause_starts(text: str) -> Iterator[int]:
    for match in _SENTENCE_START.finditer(text):
        yield match.end()


def _is_place(world: World, name: str) -> bool:
    wanted = name.casefold().removeprefix("the ")
    return any(place.name.casefold().removeprefix("the ") == wanted for place in world.places.values())


def _addressed(world: World, entry: BufferEntry | NewBufferEntry, text: str) -> Iterator[Lesson]:
    """Names in the vocative that are the speaker's for a target: `Bryn, the mugs`, `Good evening, Master Harrow`."""
    intent = entry.intent
    starts = sorted({*_clause_starts(text), *(match.end() for match in _GREETING.finditer(text))})
    for start in starts if intent.targets else ():
        given = name_at(text, start)
        if given is None or not _VOCATIVE_END.match(text[given[1] :]) or not _is_vocative(text, start, given[1]):
            continue
        for target in intent.targets:
            if target != intent.actor and target in world.entities and _is_called(world, intent.actor, target, given[0]):
                yield target, given[0], "overheard"


def _is_vocative(text: str, start: int, end: int) -> bool:
    """A name set off by commas or alone in its sentence. At the start `Bryn, …`, at the end `…, Bryn.`"""
    before = text[:start].rstrip(" '\"\u201c\u2018(")
    after = text[end:].lstrip()
    return not before or before[-1] in ".!?\u2026,;:\u2014" or not after or after[0] in ",.!?\u2026"


def _is_called(world: World, speaker: EntityId, target: EntityId, name: str) -> bool:
    """Whether `name` is what the speaker calls the target, or the target's true name, whole or by its first or last word."""
    alias = world.entities[speaker].aliases.get(target, "") if speaker in world.entities else ""
    true = world.entities[target].value("name") or ""
    return any(_fits(name, whole) for whole in (alias, true) if whole and (whole == true or is_name(whole) or whole.startswith("the ")))


def _fits(name: str, whole: str) -> bool:
    said, known = core(name), core(whole)
    return said == known or said in ((known[0],), (known[-1],))


def _introduced(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry, text: str) -> Iterator[Lesson]:
    intent = entry.intent
    for match in _OTHER.finditer(text):
        given = name_at(text, match.end())
        if given is None or _asked(text, given[1]) or _REFUSED.search(text[: match.start()]) or _is_place(world, given[0]):
            continue
        target = _third(world, viewer_id, entry, given[0])
        if target is not None:
            yield target, given[0], "introduction" if target == intent.actor else "overheard"


def _third(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry, name: str) -> EntityId | None:
    """Who is meant by `this is X`: the only one present that the speaker calls so; else, for a name that is nobody's here, the
    other one of two who are spoken to."""
    intent = entry.intent
    own = world.entities[intent.actor].value("name") if intent.actor in world.entities else None
    if own and _fits(name, own):
        return intent.actor
    present = {entity.id for entity in entities_at(world, intent.place or entry.location_id)} | set(intent.targets)
    called = sorted(id_ for id_ in present - {intent.actor} if id_ in world.entities and _is_called(world, intent.actor, id_, name))
    if called:
        return called[0] if len(called) == 1 else None
    others = [target for target in intent.targets if target not in (viewer_id, intent.actor)]
    return others[0] if viewer_id in intent.targets and len(others) == 1 else None
