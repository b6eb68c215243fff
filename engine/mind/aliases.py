"""What a viewer calls others, and whom it means by a phrase (DESIGN 5)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from engine.mind.distinct import distinct
from engine.mind.labels import UNFAMILIAR, is_name, key_of, label_of, looks_of, noun_phrase
from engine.mind.referring import Vocabulary, tokenize
from engine.mind.wordlists import COMMON, TITLES
from engine.records.base import EntityId, Record
from engine.records.tokens import substitute
from engine.records.world import Entity, World

__all__ = ["UNFAMILIAR", "Found", "find", "is_name", "known_name", "label_of", "name_words", "names_for", "narrator_name", "own_words",
           "resolve_alias", "tokenize", "true_names", "vocabulary", "whole_names"]  # fmt: skip

YOU = "you"
_SELF = frozenset({"you", "yourself", "me", "myself", "i"})
_PERSON, _THING = frozenset({"he", "him", "she", "her", "they", "them"}), frozenset({"it", "that", "this"})


class Found(Record):
    """Whom a phrase means."""

    ids: tuple[EntityId, ...] = ()
    """All that fit equally well, in the order they were offered; one when the phrase is clear, none when it is unknown."""
    ambiguous: bool = False
    """True when several fit."""


def known_name(world: World, viewer_id: EntityId, target_id: EntityId) -> str | None:
    """The alias that the viewer holds for the target, else the target's private name when the viewer is among those who know it."""
    viewer, target = world.entities.get(viewer_id), world.entities.get(target_id)
    alias = _plain(viewer.aliases.get(target_id)) if viewer else ""
    if alias and alias.casefold() != YOU:  # that is what the viewer itself is called
        return alias
    if target is None:
        return None
    name = target.attributes.get("name")
    return _plain(name.value) or None if name and viewer_id in name.known_to else None


@lru_cache(maxsize=4096)
def _plain(text: str | None) -> str:
    """A name on one line. Somebody whom it refers to stays unnamed: names do not nest."""
    return " ".join(substitute(text, lambda _: "someone").split()) if text else ""


def resolve_alias(world: World, viewer_id: EntityId, target_id: EntityId) -> str:
    """What the viewer calls the target: `you` for itself, a name it has learned, else a label, else an unfamiliar figure."""
    if viewer_id == target_id:
        return YOU
    known = known_name(world, viewer_id, target_id)
    if known:
        return known
    target = world.entities.get(target_id)
    return label_of(target) if target else UNFAMILIAR


def names_for(world: World, viewer_id: EntityId, ids: Iterable[EntityId]) -> dict[EntityId, str]:
    """`resolve_alias` for each, made distinct. Depends on which ids are given, not on their order."""
    fixed = sorted(set(ids), key=lambda id_: _order(world, id_))
    others = [(id_, resolve_alias(world, viewer_id, id_)) for id_ in fixed if id_ != viewer_id]
    names = distinct(others, lambda id_: _looks(world, id_), reserved=frozenset({YOU}))
    return {id_: names.get(id_, YOU) for id_ in fixed}


def own_name(entity: Entity) -> str:
    """What an entity calls itself: its name if it may know it."""
    name = entity.attributes.get("name")
    return " ".join(name.value.split()) if name and name.may_know(entity.id) else "the one who remembers"


def narrator_name(entity: Entity) -> str:
    """The true name, for the narrator and the screen; never for a prompt."""
    label = _plain(entity.value("name")) or label_of(entity)
    return label if label != UNFAMILIAR else re.sub(r"[_.-]+", " ", entity.id).strip() or entity.id


def true_names(world: World, ids: Iterable[EntityId]) -> dict[EntityId, str]:
    """`narrator_name` for each, made distinct. Ids that are no entity's are left out."""
    fixed = sorted((id_ for id_ in set(ids) if id_ in world.entities), key=lambda id_: _order(world, id_))
    return distinct([(id_, narrator_name(world.entities[id_])) for id_ in fixed], lambda id_: _looks(world, id_))


def _order(world: World, id_: EntityId) -> tuple[int, EntityId]:
    entity = world.entities.get(id_)
    return (entity.order if entity else 0, id_)


def _looks(world: World, id_: EntityId) -> str | None:
    entity = world.entities.get(id_)
    return looks_of(entity) if entity else None


def find(world: World, viewer_id: EntityId, phrase: str, among: Sequence[EntityId], recent: Sequence[EntityId] = ()) -> Found:
    """Whom the viewer means by `phrase`, of those in `among`, by nothing but what the viewer calls them and can see of them.

    `recent` lists those last dealt with, newest first: the first that fits settles an ambiguity, and `her` or `it` means it.
    """
    sought = key_of(phrase)
    if not sought or (sought in _SELF and viewer_id in among):
        return Found(ids=(viewer_id,) if sought else ())
    others = [id_ for id_ in dict.fromkeys(among) if id_ != viewer_id and id_ in world.entities]
    if sought in _PERSON or sought in _THING:
        latest = (id_ for id_ in recent if id_ in others and world.entities[id_].agent == (sought in _PERSON))
        return Found(ids=tuple(latest)[:1])
    names = names_for(world, viewer_id, others)
    called = {id_: [name, resolve_alias(world, viewer_id, id_), *_seen(world.entities[id_])] for id_, name in names.items()}
    for fits in (_fits_name, _fits_any, _fits_part, _fits_noun):
        ids = tuple(id_ for id_ in others if fits(sought, called[id_]))
        if len(ids) > 1:
            settled = next((id_ for id_ in recent if id_ in ids), None)
            return Found(ids=ids, ambiguous=True) if settled is None else Found(ids=(settled,))
        if ids:
            return Found(ids=ids)
    return Found()


def _seen(entity: Entity) -> list[str]:
    """What anybody who sees the entity could call it."""
    return [text for text in (label_of(entity), looks_of(entity)) if text]


def _fits_name(sought: str, called: Sequence[str]) -> bool:
    return key_of(called[0]) == sought


def _fits_any(sought: str, called: Sequence[str]) -> bool:
    return any(key_of(text) == sought for text in called)


def _fits_part(sought: str, called: Sequence[str]) -> bool:
    """`Harrow` for Bryn Harrow, `the stranger` for the wet stranger: words in order, with the noun or the first name."""
    words = [word for word in sought.split() if word not in TITLES] or sought.split()
    return any(_is_part(words, key_of(text).split(), is_name(text)) for text in called)


def _fits_noun(sought: str, called: Sequence[str]) -> bool:
    """`the woman in the soaked coat` for the thin woman: what follows the noun is not looked at."""
    phrase = noun_phrase(sought)
    return phrase is not None and _fits_part(key_of(phrase), called)


def _is_part(words: Sequence[str], whole: Sequence[str], named: bool) -> bool:
    rest = iter(whole)
    return all(word in rest for word in words) and (words[-1] == whole[-1] or (named and words[0] == whole[0]))


def vocabulary(world: World, viewer_id: EntityId, ids: Iterable[EntityId]) -> Vocabulary:
    """What `tokenize` needs: each name that the viewer has for these entities, and what means only one of them besides.

    That is a first or last part of a name (`Bryn` of Bryn Harrow), and the label of somebody whose name is known by now. Beside them
    stand the true names of all these and of the viewer, which mean nobody by themselves.
    """
    names = names_for(world, viewer_id, (id_ for id_ in ids if id_ != viewer_id))
    labels = {id_: label_of(world.entities[id_]) for id_ in names if id_ in world.entities}
    words = name_words(names, {id_: label for id_, label in labels.items() if label != UNFAMILIAR})
    return Vocabulary(words, whole_names(world, [*names, viewer_id]))


def name_words(names: Mapping[EntityId, str], labels: Mapping[EntityId, str] = MappingProxyType({})) -> dict[str, EntityId]:
    """These names, and what means only one of them besides: first and last parts of names, and further labels."""
    also: dict[str, set[EntityId]] = {}
    for id_, name in names.items():
        for word in (*_ends(name), *((labels[id_],) if id_ in labels else ())):
            also.setdefault(word, set()).add(id_)
    certain = {name: id_ for id_, name in names.items()}
    return certain | {word: next(iter(held)) for word, held in also.items() if len(held) == 1 and word not in certain}


def own_words(world: World, viewer_id: EntityId) -> Vocabulary:
    """By what names the viewer itself may be meant in a text about it: its whole name, and the first and last part of it."""
    name = own_name(world.entities[viewer_id])
    words = [name, *_ends(name)] if name.strip() else []
    return Vocabulary(dict.fromkeys(words, viewer_id), whole_names(world, [viewer_id]))


def whole_names(world: World, ids: Iterable[EntityId]) -> dict[EntityId, str]:
    """The true name of each of these that has one."""
    known = {id_: world.entities[id_].value("name") for id_ in ids if id_ in world.entities}
    return {id_: name for id_, name in known.items() if name}


def _ends(name: str) -> list[str]:
    """The first and the last word of a name, where they are names themselves."""
    pieces = name.split()
    ends = dict.fromkeys((pieces[0], pieces[-1])) if is_name(name) and len(pieces) > 1 else {}
    return [piece for piece in ends if is_name(piece) and len(piece) > 2 and piece.casefold() not in TITLES | COMMON]
