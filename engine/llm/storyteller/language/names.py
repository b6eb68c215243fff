"""Names in running text: who is meant by `the wet stranger`, `Stranger`, `Bryn` or `the lantern`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.llm.storyteller.language.text import bare, has_article
from engine.llm.storyteller.language.verbs import readings
from engine.llm.storyteller.phrases import lines

_DETERMINED = r"(?:the|this|that|our|my|your)"
_HEAD_STOP = re.compile(r"\s(?:with|of|in|on|at|from|by|under|who|whose|near|behind|beside|to|for)\s")
_TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "captain", "father", "mother", "old", "young", "saint", "st"))
_WORDS = frozenset(lines("names_that_are_words"))
_NOT_ALONE = frozenset(("one", "thing", "figure", "other"))


def is_name(text: str) -> bool:
    """Whether what somebody is called is a name rather than a label: no article, and an upper-case letter first."""
    return bool(text) and text[0].isupper() and not has_article(text)


def head_noun(label: str) -> str:
    """The noun a label turns on: `the thin man with the scar` gives `man`."""
    words = bare(_HEAD_STOP.split(label, maxsplit=1)[0].rstrip(",")).split()
    return words[-1] if words else ""


@dataclass(frozen=True, slots=True)
class Mention:
    """One place in a text where somebody or something is named."""

    start: int
    end: int
    key: str


class Names:
    """Finds who or what is named, longest names first. Ambiguous parts of names mean nobody."""

    def __init__(self, called: Mapping[str, Sequence[str]]) -> None:
        """`called` gives for each key all full names and labels it goes by."""
        whole: dict[str, str] = {}
        parts: dict[str, set[str]] = {}
        for key, names in called.items():
            for name in filter(None, names):
                whole.setdefault(name.casefold(), key)
                for part in _parts(name):
                    parts.setdefault(part.casefold(), set()).add(key)
        self._keys: dict[str, str] = {part: next(iter(keys)) for part, keys in parts.items() if len(keys) == 1} | whole
        proper = {p for names in called.values() for n in names if is_name(n) for p in (n, *_parts(n))}
        self._proper = {p.casefold(): p for p in proper}
        """Names as written: part of them are words too, so that case counts in running text."""
        self._pattern = _pattern(self._keys, self._proper)
        self._alone = {bare(form): key for form, key in self._keys.items()}

    def mentions(self, text: str) -> list[Mention]:
        """Everybody named in a text, in order."""
        if self._pattern is None:
            return []
        found: list[Mention] = []
        for match in self._pattern.finditer(text):
            form = " ".join(match.group().split()).casefold()
            key = self._keys.get(form) or self._keys.get("the " + bare(form))
            if key is not None and self._fits(form, match.group()):
                found.append(Mention(match.start(), match.end(), key))
        return found

    def of(self, phrase: str) -> str | None:
        """Whom a whole phrase names, with or without its article, in any case: `stranger`, `Gareth`, `lantern`."""
        form = " ".join(phrase.split()).strip(" .,!?;:").casefold()
        return self._keys.get(form) or self._alone.get(bare(form))

    def replaced(self, text: str) -> str:
        """The text with each mention replaced by its key."""
        pieces: list[str] = []
        position = 0
        for mention in self.mentions(text):
            pieces += [text[position : mention.start], mention.key]
            position = mention.end
        return "".join([*pieces, text[position:]])

    def _fits(self, form: str, written: str) -> bool:
        """A name that is also a word (Rose, Will, Mark) must be written as a name."""
        proper = self._proper.get(form)
        return proper is None or " ".join(written.split()) == proper or written.isupper() or not _is_word(form)


def _is_word(form: str) -> bool:
    return " " not in form and (form in _WORDS or bool(readings(form)))


def _parts(name: str) -> list[str]:
    """Shorter forms that may stand for a name or label: `Bryn`, `Harrow`; `the stranger` for `the wet stranger`."""
    if is_name(name):
        words = [word.strip(",") for word in name.split()]
        return [word for word in words if len(words) > 1 and len(word) > 2 and word[0].isupper() and word.casefold() not in _TITLES]
    noun = head_noun(name)
    short = [f"the {noun}"] if noun and noun.casefold() not in _NOT_ALONE else []
    return [form for form in [f"the {bare(name)}", *short] if form.casefold() != name.casefold()]


def _pattern(forms: Mapping[str, str], proper: Mapping[str, str]) -> re.Pattern[str] | None:
    alternatives: list[str] = []
    for form in sorted(forms, key=lambda one: (-len(one), one)):
        words = [re.escape(word) for word in form.split()]
        if form not in proper and words and form.startswith("the "):
            words[0] = _DETERMINED
        alternatives.append(r"\s+".join(words))
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE) if alternatives else None
