"""Quotations inside an account: where they stand, and whether anybody spoke those words. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from engine.memory.handoff.quotes import verbatim
from engine.memory.text import bare
from engine.records.memory import BufferEntry, LedgerEntry

_DOUBLE = "\"\u201c\u201d\u201e\u201f\uff02\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f"
_ELISION = r"(?!(?i:tis|twas|twill|em|til|bout|cause|round|neath|gainst)\b|\d)"
"""An apostrophe before these leaves letters out; it opens no quotation."""
_BEFORE, _AFTER = r"(?<![\w}\]])", r"(?![\w{\[])"
"""A single mark inside a word, or between a reference and its ending, is an apostrophe."""
_CLOSED = "|".join((
    "\"[^\"]*\"", "[\u201c\u201e\u201f][^\u201c\u201d]*\u201d", "\u201e[^\u201c]*\u201c", "\u00ab[^\u00ab\u00bb]*\u00bb",
    "\u00bb[^\u00ab\u00bb]*\u00ab", f"[{_DOUBLE}][^{_DOUBLE}]*[{_DOUBLE}]", f"{_BEFORE}'{_ELISION}.+?'{_AFTER}",
    f"{_BEFORE}[\u2018\u201a]{_ELISION}.+?[\u2019\u2018]{_AFTER}", f"`[^`]+?(?:`|'{_AFTER})",
))  # fmt: skip
QUOTED = re.compile(_CLOSED)
"""A quotation with both its marks."""
_BEGUN = re.compile(f"{_CLOSED}|(?<!\\d)[{_DOUBLE}][^{_DOUBLE}]+$")
"""A quotation, or one that is never closed."""
_OPENING = re.compile(f"{_BEFORE}['\u2018\u201a`]{_ELISION}")
"""A single mark that would open a quotation if another followed."""
_UNPAIRED = re.compile(f"[{_DOUBLE}`]|{_BEFORE}['\u2018\u2019\u201a]{_ELISION}")
"""Whatever could be taken for the beginning of a quotation."""
_TWICE = re.compile("''|``|\u2018\u2018|\u2019\u2019")
"""Two single marks for a double one."""
_STRAY = re.compile(f"(?<!\\d)[{_DOUBLE}]")
"""A mark that opens and closes nothing; after a figure it means inches."""
_CLOSING = {
    "\u201c": "\u201d", "\u201e": "\u201c", "\u201f": "\u201d", "\u00ab": "\u00bb", "\u00bb": "\u00ab", "\u2039": "\u203a",
    "\u300c": "\u300d", "\u300e": "\u300f",
}  # fmt: skip
_PAUSES = " ,.;:\u2026\u2014\u2013-"
"""What a writer puts at the end of a quotation in place of the speech's own stop."""
_SHORT = 2
"""Words up to which a quotation may be no speech, only a word set apart: the `guest`."""
_WORDS = re.compile(r"\w+(?:['\u2019]\w+)*")
_CUT = "\x00"
_AROUND_CUT = re.compile(f"[\\s,:;\u2014\u2013-]*{_CUT}(\\.?)[\\s,]*(?=([.!?;\u2026]?))")
_ENDS = ".!?\u2026"


class Said(NamedTuple):
    """What an account may quote: the speech of what it was made of, and all words of that."""

    speeches: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def has(self, words: str) -> bool:
        """Whether the words were spoken as they are, but for the stop at their end, or are one or two that stand in what it was made of."""
        if verbatim(words, self.speeches) is not None or verbatim(words.rstrip(_PAUSES), self.speeches) is not None:
            return True
        few = _words(words)
        return 0 < len(few) <= _SHORT and any(f" {' '.join(few)} " in f" {' '.join(_words(text))} " for text in self.texts)

    def also(self, speeches: Iterable[str]) -> "Said":
        """The same, and further speech."""
        return Said((*self.speeches, *speeches), self.texts)


def said_in(entries: Sequence[BufferEntry]) -> Said:
    """What may be quoted of moments. Of a voice whose words did not carry nothing may."""
    heard = [entry for entry in entries if entry.grasp != "faint"]
    speeches = tuple(entry.intent.text for entry in heard if entry.intent.type == "dialogue" and entry.intent.text)
    texts = [text for entry in heard for text in (entry.intent.text, entry.intent.summary)]
    texts += [text for entry in heard if entry.outcome for text in (entry.outcome.reason, entry.outcome.finding)]
    return Said(speeches, tuple(bare(text) for text in texts if text))


def said_in_memories(memories: Sequence[LedgerEntry]) -> Said:
    """What may be quoted of memories: their quotes. What an account of old puts between quotation marks was never checked as they were."""
    quotes = tuple(quote for memory in memories for quote in memory.quotes)
    return Said(quotes, (*quotes, *(bare(memory.content) for memory in memories)))


class Piece(NamedTuple):
    """A part of an account."""

    text: str
    spoken: bool = False
    """Whether it is speech in its quotation marks, which stays as it is."""


class Settled(NamedTuple):
    """An account whose quotations were looked at."""

    pieces: tuple[Piece, ...]
    """In order; speech only where somebody spoke it."""
    outside: str
    """What stands outside of all quotations."""
    unsaid: tuple[str, ...]
    """Words that nobody said, as they were quoted."""
    notes: tuple[str, ...]
    """What was done about them, for people."""


def settled(text: str, judge: Callable[[str], str | None], tells: Callable[[str], bool]) -> Settled:
    """The account with nothing in quotation marks but speech. `judge` gives a quotation's words as they are kept, None for false ones.

    False ones lose their marks, and are told like the rest, if `tells` says that they can be; else they are left out. Marks that
    belong to no quotation are taken away.
    """
    looked = _Look(judge, tells)
    looked.at(_TWICE.sub('"', text), outside=True)
    pieces = looked.pieces()
    if any(judge(words) is None for words in quoted_in("".join(piece.text for piece in pieces))):  # marks that were left made new pairs
        pieces = [piece if piece.spoken else Piece(_UNPAIRED.sub("", piece.text)) for piece in pieces]
    return Settled(tuple(pieces), " ".join(looked.outside), tuple(looked.unsaid), tuple(looked.notes))


def quoted_in(text: str) -> tuple[str, ...]:
    """The words of the quotations of a text, without their marks."""
    return tuple(found.group()[1:-1] for found in QUOTED.finditer(text))


def outside_quotes(text: str, change: Callable[[str], str], quoted: Callable[[str], str] = str) -> str:
    """Apply `change` between quotations, and `quoted` to these: speech stays verbatim and has no tokens of its own."""
    parts, last = [], 0
    for found in QUOTED.finditer(text):
        parts += [change(text[last : found.start()]), quoted(found.group())]
        last = found.end()
    return "".join([*parts, change(text[last:])])


class _Look:
    """One account on its way to be settled."""

    def __init__(self, judge: Callable[[str], str | None], tells: Callable[[str], bool]) -> None:
        self._judge, self._tells = judge, tells
        self._found: list[Piece] = []
        self.outside: list[str] = []
        self.unsaid: list[str] = []
        self.notes: list[str] = []

    def at(self, text: str, *, outside: bool) -> None:
        """Look at a text, or at the words of a quotation that lost its marks."""
        last = 0
        for found in _BEGUN.finditer(text):
            self._tell(text[last : found.start()], outside=outside)
            self._quotation(found.group(), text[found.end() :])
            last = found.end()
        self._tell(text[last:], outside=outside)

    def pieces(self) -> list[Piece]:
        """The parts of the account, neighbours that tell as one."""
        joined: list[Piece] = []
        for piece in self._found:
            if joined and not piece.spoken and not joined[-1].spoken:
                joined[-1] = Piece(joined[-1].text + piece.text)
            else:
                joined.append(piece)
        return [piece if piece.spoken else Piece(_healed(_STRAY.sub("", piece.text), first=at == 0)) for at, piece in enumerate(joined)]

    def _tell(self, text: str, *, outside: bool) -> None:
        self._found.append(Piece(text))
        if outside:
            self.outside.append(text)

    def _quotation(self, whole: str, rest: str) -> None:
        closing = _CLOSING.get(whole[0], whole[0]) if whole[0] in _DOUBLE else whole[-1]
        closed = QUOTED.fullmatch(whole) is not None
        inner = whole[1:-1] if closed else whole[1:]
        kept = self._judge(inner)
        if kept is not None:
            self._found.append(Piece(f"{whole[0]}{kept}{closing}", spoken=True))
            return
        words = inner.strip(f"{_DOUBLE} ")
        if not any(sign.isalnum() for sign in words):
            return
        self.unsaid.append(words)
        tells = self._tells(QUOTED.sub(" ", words))
        self.notes.append(f'nobody said "{_short(words)}": {"told without quotation marks" if tells else "left out"}')
        if tells:
            self.at(_unopened(inner), outside=False)
        else:
            ended = words[-1] in _ENDS and not rest.lstrip()[:1].islower()
            self._found.append(Piece(_CUT + "." * ended))


def _unopened(words: str) -> str:
    """The words without single marks that open no quotation among them: they would open one with a mark that follows."""
    parts, last = [], 0
    for found in _BEGUN.finditer(words):
        parts += [_OPENING.sub("", words[last : found.start()]), found.group()]
        last = found.end()
    return "".join([*parts, _OPENING.sub("", words[last:])])


def _healed(text: str, *, first: bool) -> str:
    """The text with the places closed from which words were taken."""

    def close(found: re.Match[str]) -> str:
        if found.start() == 0:
            return "" if first else " "
        if text[found.start() - 1] in _ENDS:
            return " "
        if found[2]:
            return ""
        return ". " if found[1] or found.end() == len(text) else " "

    return _AROUND_CUT.sub(close, text) if _CUT in text else text


def _words(text: str) -> list[str]:
    return [word.casefold().replace("\u2019", "'") for word in _WORDS.findall(text)]


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "\u2026"
