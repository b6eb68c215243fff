"""The names by which somebody knows others and itself, to find them in a text (DESIGN 8, item 1). Pure."""

import re
from collections.abc import Collection, Mapping

from engine.llm.stems import STOP_WORDS
from engine.mind.aliases import is_name, own_name, tokenize, vocabulary
from engine.mind.referring import Vocabulary
from engine.mind.wordlists import COMMON, TITLES
from engine.records.base import EntityId
from engine.records.world import World

_ORDINARY = COMMON | TITLES | STOP_WORDS
"""Words that mean nobody when they stand without a capital."""
_ORPHANS = re.compile(r"[\s,;:]+(?=[,.;:!?])")


def known_names(world: World, owner: EntityId, present: Collection[EntityId]) -> Vocabulary:
    """What the owner calls those present, those it has names for, and itself: names, their parts that mean only one, and labels."""
    met = dict.fromkeys([*world.entities[owner].aliases, *present])
    found = vocabulary(world, owner, met)
    own = own_name(world.entities[owner])
    for name in dict.fromkeys([own, own.split()[0], own.split()[-1]] if own.strip() else []):
        if is_name(name) and name.casefold() not in _ORDINARY:
            found.setdefault(name, owner)
    return found


def marked(text: str, names: Mapping[str, EntityId]) -> str:
    """The text with reference tokens in the place of names. In a text all in small letters the names may be, too."""
    if text == text.lower():
        small = {name.casefold(): entity for name, entity in names.items() if is_name(name) and name.casefold() not in _ORDINARY}
        names = Vocabulary(small, {}) | names
    return tokenize(text.replace("{{", "{"), names)


def tidy(text: str) -> str:
    """A text on one line, without the gaps and the punctuation that taking words out of it has left."""
    return _ORPHANS.sub("", " ".join(text.split())).strip(" ,;:")
