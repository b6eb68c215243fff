"""Verb forms for telling what others said: the storyteller's verbs, and more that people only speak with."""

from collections.abc import Mapping
from functools import cache

from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.language import verbs
from engine.llm.storyteller.language.verbs import Form, Verb, from_third, regular, verb

__all__ = ["Form", "Verb", "from_third", "reading", "readings", "verb"]


@cache
def _more() -> Mapping[str, tuple[tuple[Verb, Form], ...]]:
    """Regular verbs that the storyteller has no other use for, by their forms."""
    index: dict[str, tuple[tuple[Verb, Form], ...]] = {}
    for base in sorted(word_set("grammar", "verbs")):
        one = regular(base)
        forms: tuple[tuple[str, Form], ...] = (
            (one.base, "base"), (one.third, "third"), (one.past, "past"), (one.participle, "participle"), (one.gerund, "gerund"),
        )  # fmt: skip
        for word, form in forms:
            index[word] = (*index.get(word, ()), (one, form))
    return index


def readings(word: str) -> tuple[tuple[Verb, Form], ...]:
    """What verbs a word can be a form of."""
    return verbs.readings(word) or _more().get(word.lower(), ())


def reading(word: str, *forms: Form) -> Verb | None:
    """The verb that a word is one of these forms of; forms named first win."""
    found = verbs.reading(word, *forms)
    if found is not None or verbs.readings(word):
        return found
    return next((one for form in forms for one, is_form in _more().get(word.lower(), ()) if is_form == form), None)
