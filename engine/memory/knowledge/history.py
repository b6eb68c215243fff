"""What somebody believed at an earlier round, and how a piece of knowledge came to be what it is (DESIGN 10). Runs inside a read."""

import re
import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from engine.errors import KnowledgeError
from engine.llm.stems import STOP_WORDS, stem
from engine.memory.knowledge.shadows import unshadowed
from engine.mind.aliases import is_name, name_words, names_for, own_name, true_names
from engine.records.base import EntityId, Record
from engine.records.knowledge import AuditRow, Cause, Knowledge, KnowledgeId
from engine.records.tokens import bare, referred
from engine.records.world import World
from engine.storage.store import Store

_WORD: Final = re.compile(r"[^\W_]+")
_AT: Final = r"(?:,? (?:at|in|by|as of|on|after) (?:the end of )?(?:round|turn) (?P<round>[+\u2212-]?\d+))?"
_QUESTION: Final = re.compile(
    r"\s*what (?:did|does) (?P<who>.+?) (?:believe|know|think)s?(?: (?:about|of) (?P<about>.+?))?"
    rf"{_AT}\s*[?.!]*\s*",
    re.IGNORECASE,
)
_WHO: Final = re.compile(
    r"\s*who (?:all )?(?:knows?|knew|believes?|believed|thinks?|thought|heard|has heard|had heard|would know)(?: (?:about|of|that))? "
    rf"(?P<about>.+?){_AT}\s*[?.!]*\s*",
    re.IGNORECASE,
)
_FEW: Final = 4
"""People that are named to who asks."""
_EVERYBODY: Final = frozenset(("everybody", "anybody", "everyone", "anyone", "people"))
_DIGITS: Final = 12
"""More than any round has."""


class Belief(NamedTuple):
    """A piece as somebody believed it at the end of a round."""

    then: Knowledge
    """As it read."""
    now: Knowledge | None
    """As it is; None when it is no more."""

    @property
    def changed(self) -> bool:
        """Whether it reads otherwise now, or holds no longer."""
        return self.now is None or self.now.content != self.then.content or self.now.valid_to != self.then.valid_to


class Wording(NamedTuple):
    """How a piece was from one round to another."""

    row: Knowledge
    first_round: int
    last_round: int | None
    """None for how it is now."""
    cause: Cause | None
    """What changed it then; None while nothing has."""
    why: str


class Past(NamedTuple):
    """All that is known of how a piece came to be what it is."""

    now: Knowledge | None
    """None for one that was deleted, or merged into another."""
    wordings: tuple[Wording, ...]
    """Oldest first, the present one last."""
    audit: tuple[AuditRow, ...]
    """Oldest first."""


class Question(Record):
    """What somebody wants to know of what a mind believed."""

    entity: EntityId | None
    """Whose mind; None for everybody's: who knows of something."""
    about: EntityId | None = None
    query: str = ""
    """Words that it should be about."""
    round: int


def believed_at(
    conn: sqlite3.Connection, store: Store, world: World, entity: EntityId, round_number: int, about: EntityId | None = None,
    query: str = "", viewer: EntityId | None = None,
) -> tuple[Belief, ...]:
    """What an entity believed at the end of a round; with `about` only what is about or speaks of that one, with `query` only what has
    words of it, most of them first: names in it are those that `viewer` has for people.

    Who could know is a condition of the SQL. What others held too, and its own later word contradicted, it did not believe. Raises
    `KnowledgeError` for a round that has not been.
    """
    if not 0 <= round_number <= world.round:
        raise KnowledgeError(f"There has been no round {round_number}.", f"Give one from 0 to {world.round}.", kind="bad_value")
    found = unshadowed(store.knowledge_history.believed_at(conn, entity, round_number))
    if about is not None:
        found = [row for row in found if row.subject_id == about or about in referred(row.content)]
    if sought := words_of(query):
        counted = [(len(sought & _told(world, row, viewer)), row) for row in found]
        found = [row for count, row in sorted(counted, key=lambda one: (-one[0], one[1].seq)) if count]
    now = {row.id: row for row in store.knowledge.get(conn, [row.id for row in found])}
    return tuple(Belief(row, now.get(row.id)) for row in found)


def known_at(
    conn: sqlite3.Connection, store: Store, world: World, round_number: int, about: EntityId | None = None, query: str = "",
    viewer: EntityId | None = None,
) -> tuple[tuple[Belief, tuple[EntityId, ...]], ...]:
    """What anybody believed at the end of a round, as `believed_at` tells it of one, with who did, in order of acting."""
    found: dict[KnowledgeId, tuple[Belief, list[EntityId]]] = {}
    for mind in world.agents():
        for belief in believed_at(conn, store, world, mind.id, round_number, about, query, viewer):
            found.setdefault(belief.then.id, (belief, []))[1].append(mind.id)
    return tuple((belief, tuple(who)) for belief, who in found.values())


def past_of(conn: sqlite3.Connection, store: Store, key: KnowledgeId) -> Past:
    """How a piece came to be what it is, also one that is no more. Raises `KnowledgeError`."""
    now = next(iter(store.knowledge.get(conn, [key])), None)
    versions = store.knowledge.versions(conn, key)
    if now is None and not versions:
        raise KnowledgeError("There is no such knowledge.", "Choose one of the list.", kind="unknown_knowledge")
    wordings = [
        Wording(one.before, one.before.updated_round, one.replaced_round, one.cause, one.why) for one in versions
    ]
    if now is not None:
        wordings.append(Wording(now, now.updated_round, None, None, ""))
    audit = store.audit.find(conn, knowledge=key, limit=1_000_000)
    return Past(now, tuple(wordings), tuple(reversed(audit)))


def question(world: World, text: str, viewer: EntityId | None = None) -> Question:
    """What a person's question asks: whose mind, about whom or what, at which round; the present one when none is named.

    People are named by their true names, or as `viewer` calls them, by parts of those, or ids. Raises `KnowledgeError` with how to ask.
    Pure.
    """
    words = " ".join(text.split())
    of_one = _QUESTION.fullmatch(words)
    found = of_one or _WHO.fullmatch(words)
    if of_one is not None and of_one["who"].casefold() in _EVERYBODY:
        of_one = None
    if found is None:
        raise KnowledgeError("That question was not understood.", _how_to_ask(world, viewer), kind="unclear")
    who = _named(world, of_one["who"], viewer) if of_one is not None else None
    if of_one is not None and (who is None or not world.entities[who].agent):
        people = f"Name one of the people: {', '.join(_people(world, viewer))}."
        raise KnowledgeError(f'Nobody with a mind is called "{of_one["who"][:60]}".', people, kind="unknown_entity")
    about = _named(world, found["about"], viewer) if found["about"] else None
    asked = _round(found["round"], world) if found["round"] else world.round
    return Question(entity=who, about=about, query="" if about is not None else found["about"] or "", round=asked)


def _round(text: str, world: World) -> int:
    """A round as it was asked for. Raises `KnowledgeError` for one that has not been."""
    if not text.isdecimal() or len(text) > _DIGITS or int(text) > world.round:
        told = text if len(text) <= _DIGITS else f"{text[:_DIGITS]}\u2026"
        raise KnowledgeError(f"There has been no round {told}.", f"Give one from 0 to {world.round}.", kind="bad_value")
    return int(text)


def _people(world: World, viewer: EntityId | None) -> list[str]:
    """A few of those with a mind, as they can be named in a question."""
    return list(_names(world, [one.id for one in world.agents()], viewer).values())[:_FEW]


def _how_to_ask(world: World, viewer: EntityId | None) -> str:
    """Questions that are understood, with people of this world."""
    one, other = ([*_people(world, viewer), "Mira", "Gareth"])[:2]
    forms = f'"What does {one} know about {other}?", "What did {one} believe at round {world.round}?" or "Who knows about {other}?"'
    return f"Ask, say: {forms} A thing can stand in the place of the second name."


def words_of(text: str) -> frozenset[str]:
    """The stems of what a query asks for."""
    return frozenset(stem(word) for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS)


def _told(world: World, row: Knowledge, viewer: EntityId | None) -> frozenset[str]:
    """The stems of a piece, the names of all in it included."""
    people = [*referred(row.content), *([row.subject_id] if row.subject_id else [])]
    names = " ".join(_names(world, people, viewer).values())
    return words_of(f"{bare(row.content)} {bare(row.rationale)} {row.topic_key.replace('_', ' ')} {names}")


def _named(world: World, text: str, viewer: EntityId | None) -> EntityId | None:
    """Whom a person means by true name, or by what `viewer` calls somebody, by part of a name, label or id."""
    sought = " ".join(text.split()).strip("\"'").removeprefix("@")
    if sought in world.entities:
        return sought
    names = _names(world, world.entities, viewer)
    known = {name: entity for entity, name in names.items()} | name_words({e: n for e, n in names.items() if is_name(n)})
    folded = {name.casefold(): entity for name, entity in known.items()}
    low = sought.casefold()
    you = viewer if low in ("i", "you") else None
    return you or folded.get(low) or folded.get(low.removeprefix("the ")) or folded.get(f"the {low}")


def _names(world: World, entities: Iterable[EntityId], viewer: EntityId | None) -> dict[EntityId, str]:
    """True names, or those that a viewer has for people, itself by its own name."""
    if viewer is None:
        return true_names(world, entities)
    wanted = list(entities)
    return names_for(world, viewer, wanted) | ({viewer: own_name(world.entities[viewer])} if viewer in wanted else {})
