"""The question that a scene puts to memory (DESIGN 8, item 1). Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.llm.stems import STOP_WORDS
from engine.memory.recall.names import marked, tidy
from engine.memory.text import bare
from engine.mind.aliases import is_name, names_for, own_name, resolve_alias
from engine.records.base import EntityId
from engine.records.memory import BufferEntry
from engine.records.tokens import referred
from engine.records.world import World

_ENTRIES = 6
"""Newest buffer entries that make the scene."""
_TERMS = 40
"""Words of the scene whose rarity is looked up; the newest win. Six turns of table talk have about 30; 24 find 0.02 less evidence."""
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


class Query(NamedTuple):
    """A scene as it is searched for."""

    text: str
    """In words, for people and for the word index: with names, as the owner has them."""
    dense: str
    """For the embedder: without the names and labels of anybody known. They swamp a vector, and whom a memory involves is
    matched by id."""
    terms: tuple[str, ...]
    """Words that may find something, newest first."""
    named: tuple[EntityId, ...] = ()
    """Whom a person's question names, in its order."""


def scene_query(
    world: World, owner: EntityId, entries: Sequence[BufferEntry], focus: Sequence[EntityId], known: Iterable[str] = ()
) -> Query:
    """The last entries of the buffer with what was just said, the place and the people, in words.

    `known` are further names that mean nothing to a vector, beside those of the people in focus and of all who have an alias.
    """
    me = world.entities[owner]
    place = world.places.get(me.place or "")
    told = [line for entry in entries[-_ENTRIES:] if (line := _told(entry))]
    people = names_for(world, owner, [entity for entity in focus if entity in world.entities])
    parts = [*told, place.name if place else "", ", ".join(people.values())]
    text = " ".join(part for part in parts if part)
    names = {*known, *people.values(), *me.aliases.values(), *(resolve_alias(world, owner, e) for e in people), own_name(me)}
    return plain_query(text, told, names)


def plain_query(text: str, told: Sequence[str] = (), names: Iterable[str] = ()) -> Query:
    """A query in somebody's own words. `told` is what of it happened, oldest first: its words come before the others."""
    return Query(text, _masked(text, names), tuple(_terms([*reversed(told), text])[:_TERMS]))


def asked_query(text: str, names: Mapping[str, EntityId]) -> Query:
    """A person's question to somebody's memory. `names` are those by which that somebody knows others and itself.

    The names are taken out of the dense query and stay among the words; those whom they mean are given with it. Of `What of Tom?`
    nothing is left that a vector could be near to.
    """
    tokens = marked(text, names)
    dense = tidy(bare(tokens))
    return plain_query(text)._replace(dense=dense if _terms([dense]) else "", named=referred(tokens))


def _terms(lines: Iterable[str]) -> list[str]:
    """Words that say something, each once."""
    words = dict.fromkeys(word for line in lines for word in _WORD.findall(line.casefold()))
    return [word for word in words if len(word) > 2 and word not in STOP_WORDS]


def _told(entry: BufferEntry) -> str:
    """What was said, thought or done. Words that did not reach the owner are not in its entries."""
    intent = entry.intent
    return " ".join(intent.text.split()) if intent.type != "action" else bare(intent.summary)


def _masked(text: str, names: Iterable[str]) -> str:
    """The text without these names. First and last parts of names go too."""
    whole = {" ".join(name.split()) for name in names} - {"", "you"}
    parts = {piece for name in whole if is_name(name) and " " in name for piece in (name.split()[0], name.split()[-1])}
    known = sorted(whole | {piece for piece in parts if is_name(piece) and len(piece) > 2}, key=lambda name: (-len(name), name))
    if not known:
        return text
    pattern = "|".join(re.escape(name) if is_name(name) else f"(?i:{re.escape(name)})" for name in known)
    without = re.sub(rf"(?<!\w)(?:{pattern})(?:['\u2019]s)?(?!\w)", " ", text)
    return tidy(without)
