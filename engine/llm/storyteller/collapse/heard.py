"""A talk as it is understood, sentence by sentence: who says what of whom, and who is meant."""

import re
from dataclasses import dataclass, replace
from functools import cache

from engine.llm.storyteller.claims.complement import HANDLE
from engine.llm.storyteller.collapse.answers import answered
from engine.llm.storyteller.collapse.focus import Focus
from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.collapse.talk import Talk, Turn
from engine.llm.storyteller.collapse.thirdperson import Sides, in_third_person
from engine.llm.storyteller.collapse.wording import PLAIN, Wording, only_hushes, plain, weight_of_words, worded
from engine.llm.storyteller.handoff.sentence import is_imperative
from engine.llm.storyteller.language.text import sentences
from engine.llm.storyteller.phrases import lines, lists

_FROM_PHRASES = ("answering", "chatting", "names", "pressing", "reacting")
_MY, _YOUR = re.compile(r"\b[Mm]y(?= [a-z])"), re.compile(r"\b[Yy]our(?= [a-z])")
_HANDLE_FIRST = re.compile(r"P\d+ ")
_SLOT = re.compile(r"\{\w+\}")
_QUOTED = re.compile(r"(?:^|(?<=\s))'[^']+(?:'[a-z][^']*)*[.!?\u2026,]'(?=\s|$)")
_NOUGHT = re.compile(r"\bNo\. (?=\D)")
"""An answer, where sentences would see an abbreviation."""
_WEIGHTY = 2
"""Bonus from which a sentence is no small talk, whatever it begins with."""
_LEAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Heard:
    """One sentence, or one note."""

    turn: Turn
    said: str
    """As it was said."""
    wording: Wording
    told: str
    """In the third person; empty when it says nothing, or cannot be told safely."""
    asking: bool
    ordering: bool
    focus: Focus
    """Who and what had been spoken of before it."""
    sides: Sides
    first: bool = False
    """Whether its turn begins with it."""
    hushed: bool = False
    asked: str = ""
    """Handle of the turn with the question without which it says nothing."""

    @property
    def turns(self) -> tuple[str, ...]:
        """Handles of the turns that it is taken from."""
        return (self.asked, self.turn.handle) if self.asked else (self.turn.handle,)

    @property
    def plain(self) -> str:
        """Without contractions, openers and closing mark; empty for what means nothing."""
        return self.wording.text


@cache
def _small(*, ever: bool) -> re.Pattern[str]:
    """What is small talk: in any words, or unless what it speaks of weighs something."""
    found = [line.removeprefix("! ") for line in lines("collapsing_small") if line.startswith("! ") is ever]
    return re.compile("|".join(f"(?:{line})" for line in found), re.IGNORECASE)


@cache
def _stock() -> frozenset[str]:
    """Sentences of the storyteller's own phrases, which tell nothing of anybody."""
    return frozenset(
        _key(sentence)
        for name in _FROM_PHRASES for phrases in lists(name).values() for phrase in phrases
        for sentence in sentences(phrase) if _SLOT.search(sentence) is None
    )  # fmt: skip


def _key(sentence: str) -> str:
    return sentence.replace("\u2019", "'").strip(" .!?,\u2026").casefold()


def instructs(sentence: str) -> bool:
    """Whether a sentence speaks to whoever writes this down rather than to anybody who is there."""
    return pattern("instruction").search(sentence) is not None


def heard(talk: Talk) -> list[Heard]:
    """Every sentence of a talk in order."""
    focus, found = Focus(talk.cast), list[Heard]()
    asked: Heard | None = None
    for turn in talk.turns:
        sides = _sides(turn, talk)
        if turn.note:
            found.append(Heard(turn, turn.words, Wording(turn.words, 1.0), turn.words, False, False, focus.copy(), sides, True))
            focus.heard(turn.words, whole=True)
            continue
        parts = [part for part in sentences(_unquoted(turn.words)) if any(map(str.isalpha, part))]
        start = len(found)
        for index, part in enumerate(parts):
            one = _understood(part, turn, sides, focus, talk, first=index == 0)
            if index == 0 and asked is not None and turn.who and asked.turn.who != turn.who:
                stated = answered(asked.plain, part)
                one = _restated(one, stated, asked, talk) if stated else one
            found.append(one)
            _take_note(one, focus)
        asked = next((one for one in reversed(found[start:]) if one.asking), None)
        _hush(found, start, turn)
    return found


def _unquoted(words: str) -> str:
    """A speech in which what it quotes of others is only marked: they are no words of its speaker's."""
    return _QUOTED.sub(' "\u2026".', _NOUGHT.sub("No! ", words.replace("\u2019", "'")))


def _sides(turn: Turn, talk: Talk) -> Sides:
    speaker = talk.cast.person(turn.who) if turn.who else None
    hearer = talk.cast.person(turn.to) if turn.to else None
    return Sides(speaker, hearer, f"{turn.who}'s people" if speaker else "", f"{turn.who}'s" if speaker else "")


def together(one: Heard, talk: Talk) -> Sides:
    """Who speaks to whom where `we` means the two who talk."""
    return replace(one.sides, we=f"{talk.agent} and {talk.other}", our="their")


def _understood(part: str, turn: Turn, sides: Sides, focus: Focus, talk: Talk, *, first: bool) -> Heard:
    """One sentence of a speech. What is small talk, a question or an order is not told, only taken note of."""
    asking = part.rstrip("\"'\u201d").endswith("?")
    if _key(part) in _stock() or instructs(part):
        return Heard(turn, part, Wording("", PLAIN), "", asking, False, focus.copy(), sides, first, turn.hushed)
    wording = worded(part, talk)
    ordering, told = not asking and is_imperative(wording.text), ""
    if not (asking or ordering or small(wording.text)):
        if wording.source:
            focus.named(_source(wording.source, sides, focus))
        told = in_third_person(wording.text, sides, focus)
    return Heard(turn, part, wording, told, asking, ordering, focus.copy(), sides, first, turn.hushed or wording.hushed)


def small(text: str) -> bool:
    """Whether a sentence without contractions tells nothing worth knowing."""
    least = _LEAST_WORDS - 1 if _HANDLE_FIRST.match(text) else _LEAST_WORDS
    if len(text.split()) < least or _small(ever=True).match(text) is not None:
        return True
    return _small(ever=False).match(text) is not None and weight_of_words(text) < _WEIGHTY


def _source(who: str, sides: Sides, focus: Focus) -> str:
    """From whom somebody has what it tells."""
    if who.lower() in ("he", "she"):
        meant = focus.meant(who.lower(), ())
        return meant.label if meant is not None else ""
    return in_third_person(who, sides, focus)


def _restated(one: Heard, stated: str, asked: Heard, talk: Talk) -> Heard:
    """An answer with what was asked: `Yes.` as `I own a boat`."""
    text = talk.names.replaced(stated)
    told = in_third_person(text, one.sides, one.focus)
    return replace(one, wording=replace(one.wording, text=text), told=told, ordering=False, asked=asked.turn.handle)


def _hush(found: list[Heard], start: int, turn: Turn) -> None:
    """What is asked to be kept quiet was told in confidence: the whole turn, or the one before when the turn asks for nothing else."""
    asked = [index for index in range(start, len(found)) if found[index].hushed or only_hushes(plain(found[index].said))]
    if not asked:
        return
    if len(asked) == len(found) - start:
        earlier = next((one.turn for one in reversed(found[:start]) if one.turn.who == turn.who), turn)
        start = next((index for index, one in enumerate(found) if one.turn is earlier), start)
        found[start:] = [replace(one, hushed=one.hushed or one.turn in (earlier, turn)) for one in found[start:]]
        return
    found[start:] = [replace(one, hushed=True) for one in found[start:]]


def _take_note(one: Heard, focus: Focus) -> None:
    """Lets who and what a sentence names be meant by what comes after it."""
    there = (one.turn.who, one.turn.to)
    named = [handle for handle in HANDLE.findall(one.wording.text) if handle in there] if one.told else []
    focus.heard(one.told or _owned(one.wording.text, one.sides), whole=bool(one.told), there=there, named=named)


def _owned(text: str, sides: Sides) -> str:
    """A sentence in which `my boat` and `your boat` have their owners, as far as they are known."""
    if sides.speaker is not None:
        text = _MY.sub(f"{sides.speaker.handle}'s", text)
    return _YOUR.sub(f"{sides.hearer.handle}'s", text) if sides.hearer is not None else text
