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
_NESTED = re.compile('["\u201c][^"\u201c\u201d]*["\u201d]')
_NOT_SO = re.compile(
    rf"(?:\b(?:not|never|stop|dare|dares|nobody|no one|none|if|whether|says?|said|thinks?|thought|believes?|claims?|pretends?)\b|"
    rf"n{_APOSTROPHE}t\b)[^.!?,;:]{{0,16}}$",
    re.IGNORECASE,
)
_SELF = re.compile(
    rf"\b(?:(?:I{_APOSTROPHE}m|I am)(?: called| known as)?|I go by|it{_APOSTROPHE}s me,|it is (?:me|I),|"
    rf"my (?:true |real |full |own |given )?name(?: is|{_APOSTROPHE}s)|(?<!you )call me|"
    r"(?:they|people|folks?|most|some|many|everyone|everybody|all|friends) calls? me)\s+(?:just |plain |simply )?",
    re.IGNORECASE,
)
_BY_CALLING = re.compile("call|known|name|go by", re.IGNORECASE)
_SELF_PLAIN = re.compile(rf"(?:(?:and|but|well|aye|oh) )?(?:the )?name(?: is|{_APOSTROPHE}s)\s+", re.IGNORECASE)
_SELF_AFTER = re.compile(r",? (?:(?:is|be) (?:my|the) name|they call me|at your service)\b", re.IGNORECASE)
_OF_NAME = re.compile(rf"{_APOSTROPHE}s (?=(?:my|the) name\b)", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:(?P<here>this(?: here)? is|(?:^|(?<=[.!?,;:] )|(?<=come )|(?<=you to ))meet|have you met|"
    rf"(?:may i|let me|allow me to|i) (?:present|introduce)(?: you to)?)|that is|that{_APOSTROPHE}s|"
    rf"(?:his|her|their) name(?: is|{_APOSTROPHE}s)|(?:he|she)(?: is|{_APOSTROPHE}s)(?: called| named)?)\s+",
    re.IGNORECASE,
)
_YOU_ARE = re.compile(rf"\b(?:you are|you{_APOSTROPHE}re|you must be|your name(?: is|{_APOSTROPHE}s))\s+", re.IGNORECASE)
_CLAUSE_START = re.compile(r"(?:^|[.!?\u2026\u2014;:,]['\"\u201d\u2019)]*)\s*['\"\u201c\u2018(]*")
_GREETING = re.compile(
    r"(?:^|[.!?\u2026,]\s+)(?:good (?:day|morning|evening|afternoon|night)|hello|hail|hey|hi|ho|oi|greetings|welcome(?: back)?|evening|"
    r"morning|thanks|thank you|goodbye|farewell|sorry|please|well met|come on|yes|no|aye|nay|listen|look|oh|ah|wait|easy|and|but),?\s+",
    re.IGNORECASE,
)
_SET_OFF = re.compile(r"\s*(?:[,.!?\u2026;:\u2014-]|$)")


def learned(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry) -> list[Lesson]:
    """Names that the viewer learns from one perceived line, as (whom, name as spoken, cause), each target at most once.

    Three kinds of evidence: somebody gives its own name (`introduction`), is addressed by a name, or is introduced by
    another (`overheard`). A lie is believed. A name that the viewer has already, or a part of it, teaches nothing.
    """
    intent = entry.intent
    if intent.type != "dialogue" or entry.grasp != "full" or intent.actor == viewer_id:
        return []
    text = _own_words(intent.text)
    found: dict[EntityId, Lesson] = {}
    for lesson in (*_own_names(world, intent.actor, text), *_introduced(world, viewer_id, entry, text), *_addressed(world, entry, text)):
        target, name, cause = lesson
        if target == viewer_id or target not in world.entities or not _is_news(world, viewer_id, lesson):
            continue
        before = found.get(target)
        if before is None or (before[2] == cause and len(core(name)) > len(core(before[1]))):
            found[target] = lesson
    return list(found.values())


def _own_words(text: str) -> str:
    """Speech on one line, without what the speaker quotes of others."""
    line = " ".join(text.split())
    return line if _NESTED.fullmatch(line) else _NESTED.sub('""', line)


def _is_news(world: World, viewer_id: EntityId, lesson: Lesson) -> bool:
    """Whether the name says more than what the viewer calls the target already."""
    target, name, cause = lesson
    present = known_name(world, viewer_id, target)
    if present is None:
        return True
    if is_part(name, present) and (is_name(present) or core(name) == core(present)):
        return False
    true = world.entities[target].value("name") or ""
    if cause == "introduction" or not true:
        return True
    # one who is called Bryn by some and Harrow by others keeps the name that was heard first
    return not (is_part(present, true) and is_part(name, true)) or len(core(name)) > len(core(present))


def _own_names(world: World, speaker: EntityId, text: str) -> Iterator[Lesson]:
    """`I'm Bryn`, `the name's Harrow. Bryn Harrow.`, `Bryn's my name`."""
    clauses = _clause_starts(text)
    plain = (found for start in clauses if (found := _SELF_PLAIN.match(text, start)))
    for match in (*_SELF.finditer(text), *plain):
        given = name_at(text, match.end(), epithet=_BY_CALLING.search(match[0]) is not None)
        if given and not _asked(text, given[1]) and not _NOT_SO.search(text[: match.start()]) and not _is_place(world, given[0]):
            yield speaker, _repeated(text, given), "introduction"
    turned = _OF_NAME.sub(" is ", text)
    for start in _clause_starts(turned):
        given = name_at(turned, start)
        if given and _SELF_AFTER.match(turned, given[1]):
            yield speaker, given[0], "introduction"


def _repeated(text: str, given: tuple[str, int]) -> str:
    """The longer name that follows at once, if one does: `Harrow. Bryn Harrow.`"""
    name, end = given
    more = name_at(text, end + 2) if text[end : end + 2] in (". ", ", ") else None
    return more[0] if more and is_part(name, more[0]) else name


def _asked(text: str, end: int) -> bool:
    return text[end : end + 1] == "?"


def _clause_starts(text: str) -> list[int]:
    return [match.end() for match in _CLAUSE_START.finditer(text)]


def _is_place(world: World, name: str) -> bool:
    wanted = name.casefold().removeprefix("the ")
    return any(place.name.casefold().removeprefix("the ") == wanted for place in world.places.values())


def _addressed(world: World, entry: BufferEntry | NewBufferEntry, text: str) -> Iterator[Lesson]:
    """Names for those spoken to: `Bryn, the mugs`, `Good evening, Master Harrow`, `You are Bryn Harrow.`"""
    intent = entry.intent
    targets = [target for target in intent.targets if target != intent.actor and target in world.entities]
    if not targets:
        return
    told = [match.end() for match in _YOU_ARE.finditer(text) if not _NOT_SO.search(text[: match.start()])]
    for start in sorted({*_clause_starts(text), *(match.end() for match in _GREETING.finditer(text)), *told}):
        given = name_at(text, start)
        if given and (start in told or _SET_OFF.match(text, given[1])):
            yield from ((target, given[0], "overheard") for target in targets if _is_called(world, intent.actor, target, given[0]))


def _is_called(world: World, speaker: EntityId, target: EntityId, name: str) -> bool:
    """Whether `name` is what the speaker calls the target, or the target's true name, whole or by its first or last word."""
    alias = known_name(world, speaker, target) or ""
    if not is_name(alias) and not _is_epithet(alias):
        alias = ""
    return any(_fits(name, whole) for whole in (alias, world.entities[target].value("name") or "") if whole)


def _is_epithet(alias: str) -> bool:
    return alias.startswith("the ") and alias[4:5].isupper()


def _fits(name: str, whole: str) -> bool:
    said, known = core(name), core(whole)
    return said == known or said in ((known[0],), (known[-1],))


def _introduced(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry, text: str) -> Iterator[Lesson]:
    """`This is Mira`, `meet Captain Vane`, `his name is Tom`, of somebody who is present."""
    intent = entry.intent
    for match in _OTHER.finditer(text):
        given = name_at(text, match.end())
        if given is None or _asked(text, given[1]) or _NOT_SO.search(text[: match.start()]) or _is_place(world, given[0]):
            continue
        target = _third(world, viewer_id, entry, given[0], shown=match["here"] is not None)
        if target is not None:
            yield target, given[0], "introduction" if target == intent.actor else "overheard"


def _third(world: World, viewer_id: EntityId, entry: BufferEntry | NewBufferEntry, name: str, *, shown: bool) -> EntityId | None:
    """Who is meant by `this is X`: the only one present whom the speaker calls so, the speaker too.

    When X is nobody's name here and somebody is `shown`, it is the other one of two who are spoken to: so lies work.
    """
    intent = entry.intent
    own = world.entities[intent.actor].value("name") if intent.actor in world.entities else None
    if own and shown and _fits(name, own):
        return intent.actor
    present = {entity.id for entity in entities_at(world, intent.place or entry.location_id)} | set(intent.targets)
    called = [id_ for id_ in present if id_ != intent.actor and id_ in world.entities and _is_called(world, intent.actor, id_, name)]
    if called:
        return called[0] if len(called) == 1 else None
    others = [target for target in intent.targets if target not in (viewer_id, intent.actor)]
    return others[0] if shown and viewer_id in intent.targets and len(others) == 1 else None
