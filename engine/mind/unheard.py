"""True names in text for somebody who may never have heard them (invariant 1). Pure."""

import re
from collections.abc import Callable, Iterable, Mapping

from engine.mind.aliases import known_name
from engine.mind.labels import is_name
from engine.mind.spoken import is_ordinary
from engine.mind.wordlists import PARTICLES, TITLES
from engine.records.base import EntityId
from engine.records.tokens import token
from engine.records.world import Entity, World

_TOKEN = re.compile(r"(\{\{e:[A-Za-z0-9_.-]+\}\})")
_WORD = re.compile(r"\w+")
_LEAST = 3
"""Letters of a single word that is a name."""


def full_names(text: str, names: Mapping[str, EntityId]) -> str:
    """The text with reference tokens for names of several words, in whatever case they are written: `KETIL RUSK`, `ketil rusk`."""
    low = _spaced(text)
    held = {_spaced(name): entity for name, entity in names.items() if is_name(name) and len(name.split()) > 1}
    found = sorted((name for name in held if name in low), key=len, reverse=True)
    return _replaced(text, ((re.compile(_pattern(name), re.IGNORECASE), token(held[name])) for name in found))


def without_unheard(text: str, world: World, viewer: EntityId, heard: str, told: Callable[[EntityId], str]) -> str:
    """The text with `told(id)` for true names that the viewer does not know, whole in any case or one capitalised word of them.

    `heard` is what the viewer has before it: whoever is named there may be named, even if the viewer does not know who that is.
    """
    low = _spaced(text)
    unknown = [(entity, name) for entity in world.entities.values() if (name := _unknown(world, viewer, entity, low))]
    if not unknown:
        return text
    known = (known_name(world, viewer, entity) or "" for entity in world.entities)
    before = f" {' '.join(_WORD.findall(' '.join((heard, *known)).casefold()))} "
    whole, parts = [], []
    for entity, name in unknown:
        said = told(entity.id)
        if len(name.split()) > 1 and not _stands(name, before):
            whole.append((re.compile(_pattern(name), re.IGNORECASE), said))
        parts += [
            (re.compile(_pattern(word) + "|" + _pattern(word.upper())), said)
            for word in name.split() if _tells_apart(word) and not _stands(word, before)
        ]  # fmt: skip
    return _replaced(text, [*whole, *parts])


def _unknown(world: World, viewer: EntityId, entity: Entity, low: str) -> str:
    """The true name of an entity if any of it may stand in a text and the viewer does not know it; else nothing."""
    name = entity.attributes.get("name")
    if name is None or not any(word.casefold() in low for word in name.value.split()):
        return ""
    if not is_name(name.value) or name.may_know(viewer):
        return ""
    return " ".join(name.value.split())


def _tells_apart(word: str) -> bool:
    return len(word) >= _LEAST and word[0].isupper() and not is_ordinary(word) and word.casefold() not in TITLES | PARTICLES


def _stands(name: str, words: str) -> bool:
    return f" {' '.join(_WORD.findall(name.casefold()))} " in words


def _replaced(text: str, patterns: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, said in patterns:
        parts = _TOKEN.split(text)
        parts[::2] = [pattern.sub(lambda _, said=said: said, part) for part in parts[::2]]
        text = "".join(parts)
    return text


def _spaced(text: str) -> str:
    return " ".join(text.split()).casefold()


def _pattern(name: str) -> str:
    return r"(?<!\w)" + r"\s+".join(re.escape(word) for word in name.split()) + r"(?!\w)"
