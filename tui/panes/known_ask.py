"""The question box: what did somebody believe about somebody or something at the end of a round; in words, or by three fields."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Label

from tui.text import plain

Names = Callable[[], Sequence[str]]
_BEGIN: Final = "What did "
_VERB: Final = " believe about "
_PARTS: Final = re.compile(r"what (?:did|does) (?P<who>.+?) (?:believe|know|think)s?(?: (?:about|of) (?P<about>.*))?", re.IGNORECASE)
_ROUND: Final = re.compile(r"(?P<about>.+?),? at (?:the end of )?(?:r|ro|rou|roun|round)(?: \d*)?", re.IGNORECASE)


def completed(value: str, names: Sequence[str], number: int) -> str | None:
    """A question as far as it can be guessed from its beginning; None when it cannot. Pure."""
    if not value:
        return None
    if len(value) <= len(_BEGIN):
        return value + _BEGIN[len(value) :] if _BEGIN.casefold().startswith(value.casefold()) and len(value) < len(_BEGIN) else None
    found = _PARTS.fullmatch(value)
    if found is None:
        head, rest = value[: len(_BEGIN)], value[len(_BEGIN) :]
        if head.casefold() not in (_BEGIN.casefold(), "what does "):
            return None
        return _name(value, rest, names) or _after_name(value, rest, names, _VERB)
    about = found["about"]
    if about is None:
        return value + " about "
    end = f" at round {number}?"
    if (inside := _ROUND.fullmatch(about)) is not None:
        typed = about[len(inside["about"]) :]
        return value + end[len(typed) :] if end.startswith(typed) and typed != end else None
    return _name(value, about, names) or (value + end[1 if value.endswith(" ") else 0 :] if about.strip() else None)


def asked_who(text: str) -> str:
    """Whose beliefs a question asks for, as they are named in it."""
    found = _PARTS.match(text.strip().rstrip("?"))
    return found["who"] if found is not None else ""


def _name(value: str, typed: str, names: Sequence[str]) -> str | None:
    low = typed.casefold()
    fitting = (name for name in names if low and name.casefold().startswith(low) and len(name) > len(typed))
    name = next(fitting, None)
    return value + name[len(typed) :] if name is not None else None


def _after_name(value: str, typed: str, names: Sequence[str], then: str) -> str | None:
    known = {name.casefold() for name in names}
    parts = [(typed[:at], typed[at:]) for at in range(len(typed), 0, -1) if typed[:at].casefold() in known]
    for _, rest in parts:
        if then.startswith(rest) and rest != then:
            return value + then[len(rest) :]
    return None


class _Guess(Suggester):
    def __init__(self, guess: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._guess = guess

    async def get_suggestion(self, value: str) -> str | None:
        return self._guess(value)


class _Line(Input):
    BINDINGS = [
        Binding("enter", "submit", "Ask", tooltip="Look for the answer"),
        Binding("down", "screen.to_answer", "To the answer", show=False),
        Binding("escape", "screen.to_answer", "Leave line", tooltip="Leave the line one writes in"),
    ]


class AskBox(Vertical):
    """A line for the question, and the same in three fields. Reports what is asked and knows nothing else."""

    TITLE = "Asked"
    HELP = """\
What somebody believed at the end of a round, worded as it was then, with what has become of each piece since. Ask in words: *What did
Mira believe about Gareth at round 12?* **right** takes what is offered to complete a name; without a round the present one is meant, and
what nobody is called is looked for as words. Or fill **who**, **about** and **round** in the line below; **tab** goes from field to field,
**enter** asks, **down** goes to the answer.
"""
    line = getters.query_one("#ask-line", Input)

    @dataclass
    class Asked(Message):
        """The reader wants an answer."""

        text: str

    def __init__(self, names: Names, number: Callable[[], int]) -> None:
        """`names` of all that can be asked about, `number` of the present round."""
        super().__init__(id="ask-box")
        self._names, self._number = names, number

    def compose(self) -> ComposeResult:
        """The line and the fields."""
        whole = _Guess(lambda value: completed(value, self._names(), self._number()))
        yield _Line(id="ask-line", compact=True, placeholder="What did … believe about … at round …?", suggester=whole)
        part = _Guess(lambda value: _name(value, value, self._names()))
        with Horizontal(id="ask-fields"):
            yield Label("who ", markup=False)
            yield _Line(id="ask-who", compact=True, suggester=part, placeholder="a name")
            yield Label(" about ", markup=False)
            yield _Line(id="ask-about", compact=True, suggester=part, placeholder="a name, or words")
            yield Label(" round ", markup=False)
            yield _Line(id="ask-round", compact=True, placeholder="now", max_length=9)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input.id != "ask-line" or not event.value.strip():
            self.line.value = self.written() or self.line.value
        if self.line.value.strip():
            self.post_message(self.Asked(self.line.value.strip()))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()

    def written(self) -> str:
        """The question that the fields ask; empty without anybody."""
        who, about, number = (self._field(key) for key in ("who", "about", "round"))
        asked = f" about {about}" if about else ""
        return f"What did {who} believe{asked}{f' at round {number}' if number else ''}?" if who else ""

    def fill(self, who: str, about: str, number: int) -> None:
        """Show in the fields how the question was understood."""
        for key, value in (("who", who), ("about", about), ("round", str(number))):
            self.query_one(f"#ask-{key}", Input).value = plain(value)

    def _field(self, key: str) -> str:
        return self.query_one(f"#ask-{key}", Input).value.strip().rstrip("?")


def nearest(name: str, names: Sequence[str]) -> str:
    """Advice for a name that nobody has: those that are like it, else some that there are."""
    low = {plain(one).casefold(): plain(one) for one in names}
    close = get_close_matches(name.casefold(), low, n=2, cutoff=0.6) or [
        key for key in low if any(get_close_matches(name.casefold(), key.split(), n=1, cutoff=0.7))
    ][:2]
    if close:
        return f"Did you mean {' or '.join(low[key] for key in close)}?"
    some = ", ".join(list(low.values())[:6])
    return f"There are {some}{' and others' if len(low) > 6 else ''}."
