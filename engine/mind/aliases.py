"""What a viewer calls others, and whom it means by a phrase (DESIGN 5)."""

import re
from collections.abc import Iterable, Mapping, Sequence

from engine.mind.distinct import distinct
from engine.mind.labels import UNFAMILIAR, is_name, label_of, looks_of
from engine.records.base import EntityId, Record
from engine.records.tokens import token
from engine.records.world import Entity, World

__all__ = ["UNFAMILIAR", "Found", "find", "is_name", "known_name", "label_of", "names_for", "narrator_name", "resolve_alias", "tokenize",
           "true_names", "vocabulary"]  # fmt: skip

YOU = "you"
_SELF = frozenset({"you", "yourself", "me", "myself", "i"})
_ARTICLES = frozenset({"a", "an", "the", "that", "this"})


class Found(Record):
    """Whom a phrase means."""

    ids: tuple[EntityId, ...] = ()
    """All that fit equally well, in the order they were offered; one when the phrase is clear, none when it is unknown."""
    ambiguous: bool = False
    """True when several fit."""


def known_name(world: World, viewer_id: EntityId, target_id: EntityId) -> str | None:
    """The alias that the viewer holds for the target, else the target's private name when the viewer is among those who know it."""
    viewer, target = world.entities.get(viewer_id), world.entities.get(target_id)
    alias = " ".join(viewer.aliases.get(target_id, "").split()) if viewer else ""
    if alias or target is None:
        return alias or None
    name = target.attributes.get("name")
    return " ".join(name.value.split()) or None if name and viewer_id in name.known_to else None


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
    wanted = [(id_, resolve_alias(world, viewer_id, id_), _other_name(world, id_)) for id_ in fixed]
    return distinct(wanted)


def narrator_name(entity: Entity) -> str:
    """The true name, for the narrator and the screen; never for a prompt."""
    name = " ".join((entity.value("name") or "").split())
    if name:
        return name
    label = label_of(entity)
    return label if label != UNFAMILIAR else re.sub(r"[_.-]+", " ", entity.id).strip() or entity.id


def true_names(world: World, ids: Iterable[EntityId]) -> dict[EntityId, str]:
    """`narrator_name` for each, made distinct. Ids that are no entity's are left out."""
    fixed = sorted((id_ for id_ in set(ids) if id_ in world.entities), key=lambda id_: _order(world, id_))
    return distinct([(id_, narrator_name(world.entities[id_]), None) for id_ in fixed])


def _order(world: World, id_: EntityId) -> tuple[int, EntityId]:
    entity = world.entities.get(id_)
    return (entity.order if entity else 0, id_)


def _other_name(world: World, id_: EntityId) -> str | None:
    entity = world.entities.get(id_)
    return looks_of(entity) if entity else None


def find(world: World, viewer_id: EntityId, phrase: str, among: Sequence[EntityId], recent: Sequence[EntityId] = ()) -> Found:
    """Whom the viewer means by `phrase`, of those in `among`, by nothing but what the viewer calls them and can see of them.

    `recent` lists those last dealt with, newest first: the first that fits settles an ambiguity.
    """
    sought = _key(phrase)
    if sought in _SELF and viewer_id in among:
        return Found(ids=(viewer_id,))
    others = [id_ for id_ in dict.fromkeys(among) if id_ != viewer_id and id_ in world.entities]
    names = names_for(world, viewer_id, others)
    for fits in (_fits_exactly, _fits_alias, _fits_part):
        ids = tuple(id_ for id_ in others if sought and fits(world, viewer_id, id_, names[id_], sought))
        if len(ids) > 1:
            latest = next((id_ for id_ in recent if id_ in ids), None)
            return Found(ids=(latest,)) if latest is not None else Found(ids=ids, ambiguous=True)
        if ids:
            return Found(ids=ids)
    return Found()


def _fits_exactly(world: World, viewer_id: EntityId, id_: EntityId, name: str, sought: str) -> bool:
    return _key(name) == sought


def _fits_alias(world: World, viewer_id: EntityId, id_: EntityId, name: str, sought: str) -> bool:
    entity = world.entities[id_]
    return sought in {_key(resolve_alias(world, viewer_id, id_)), _key(label_of(entity)), _key(looks_of(entity) or "")}


def _fits_part(world: World, viewer_id: EntityId, id_: EntityId, name: str, sought: str) -> bool:
    """`Harrow` for Bryn Harrow, `the stranger` for the wet stranger: words in order, the last of them a last or first word."""
    entity = world.entities[id_]
    words = sought.split()
    return any(_is_part(words, _key(text).split(), is_name(text)) for text in (name, label_of(entity), looks_of(entity) or ""))


def _is_part(words: list[str], whole: list[str], named: bool) -> bool:
    rest = iter(whole)
    return all(word in rest for word in words) and (words[-1] == whole[-1] or (named and words[0] == whole[0]))


def _key(phrase: str) -> str:
    """A phrase as it is compared: no case, no article, no possessive, no punctuation around it."""
    plain = re.sub(r"['\u2019]s$", "", " ".join(phrase.split()).strip(" .,;:!?\"'\u201c\u201d\u2018\u2019()[]")).casefold()
    article, _, rest = plain.partition(" ")
    return rest if rest and article in _ARTICLES else plain


def vocabulary(world: World, viewer_id: EntityId, ids: Iterable[EntityId]) -> dict[str, EntityId]:
    """What `tokenize` needs: each name the viewer has for these entities, and first or last parts of names that only one of them has."""
    names = names_for(world, viewer_id, ids)
    words = {name: id_ for id_, name in names.items() if id_ != viewer_id}
    parts: dict[str, set[EntityId]] = {}
    for id_, name in names.items():
        pieces = name.split()
        if id_ != viewer_id and is_name(name) and len(pieces) > 1:
            for piece in (pieces[0], pieces[-1]):
                if is_name(piece) and len(piece) > 2:
                    parts.setdefault(piece, set()).add(id_)
    return words | {piece: next(iter(held)) for piece, held in parts.items() if len(held) == 1 and piece not in words}


def tokenize(text: str, names: Mapping[str, EntityId]) -> str:
    """The text with names replaced by reference tokens, longest first, whole words, in one pass.

    Labels match without case, names only as written. What is a token already stays as it is.
    """
    usable = {" ".join(name.split()): id_ for name, id_ in names.items() if name.strip()}
    if not usable:
        return text
    longest = sorted(usable, key=lambda name: (-len(name), name))
    pattern = "|".join(_pattern(name) for name in longest)
    ids = {name if is_name(name) else name.casefold(): usable[name] for name in reversed(longest)}

    def replaced(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group(0)
        found = " ".join(match.group(1).split())
        return token(ids[found] if found in ids else ids[found.casefold()])

    return re.sub(r"\{\{e:[^}]*\}\}|(?<!\w)(" + pattern + r")(?!\w)", replaced, text)


def _pattern(name: str) -> str:
    words = r"\s+".join(re.escape(word) for word in name.split())
    return words if is_name(name) else f"(?i:{words})"
