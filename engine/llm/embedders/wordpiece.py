"""WordPiece as BERT's uncased models want it, in plain Python: the same numbers as their own tokenizer, without its dependencies."""

import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD: Final = 100
"""Characters; a longer word is unknown as a whole (BERT)."""
_ENOUGH: Final = 100
"""Characters looked at for each token wanted. Only text with runs of a hundred blanks or more has fewer tokens in them."""
_KEPT_CHARACTERS: Final = 20_000
_IDEOGRAPHS: Final = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Each of these characters is a word of its own (BERT)."""


class WordPiece:
    """Splits text into pieces of a vocabulary, greedily from the left (Devlin et al. 2018; Wu et al. 2016).

    Names of special pieces in a text (`[SEP]`) are text like any other. Words are remembered, so that prose costs
    a look-up a word. Safe to use from several threads.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._longest = max(map(len, vocabulary))
        self._unknown = self._numbers[_UNKNOWN]
        self._start, self._end = self._numbers[_START], self._numbers[_END]
        self._characters = _Characters()
        self._word = lru_cache(maxsize=50_000)(self._pieces)

    def encode(self, text: str, limit: int) -> list[int]:
        """Numbers of the pieces, start and end marks included, at most `limit` of them (2 or more): what is over is left out."""
        numbers = [self._start]
        for word in text[: limit * _ENOUGH].translate(self._characters).split():
            numbers += self._word(word) if len(word) <= _LONGEST_WORD else (self._unknown,)
            if len(numbers) >= limit - 1:
                break
        return [*numbers[: limit - 1], self._end]

    def _pieces(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self._numbers.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(found)


class _Characters(dict[int, str]):
    """A table for `str.translate`: what stands for a character. Grows as characters are met."""

    def __missing__(self, code: int) -> str:
        made = _normal(chr(code))
        if len(self) < _KEPT_CHARACTERS:
            self[code] = made
        return made


def _normal(character: str) -> str:
    """Small letters without accents; nothing for controls; blanks around punctuation and ideographs, which are words alone."""
    if character in "\t\n\r" or (character.isspace() and unicodedata.category(character) != "Cc"):
        return " "
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    bare = "".join(part.lower() for part in unicodedata.normalize("NFD", character) if unicodedata.category(part) != "Mn")
    if any(first <= ord(character) <= last for first, last in _IDEOGRAPHS):
        return f" {bare} "
    return "".join(f" {part} " if _is_punctuation(part) else part for part in bare)


def _is_punctuation(character: str) -> bool:
    """Every printable ASCII character that is neither letter nor digit counts, signs and symbols too (BERT)."""
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character).startswith("P")


@cache
def bert_uncased() -> WordPiece:
    """The tokenizer with the vocabulary of BERT Base, uncased, which comes with this package. About 15 ms the first time."""
    text = (files(__package__) / "vocabulary" / "bert-uncased.txt").read_text(encoding="utf-8")
    return WordPiece(text.removesuffix("\n").split("\n"))
