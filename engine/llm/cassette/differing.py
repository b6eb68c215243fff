"""What is asked and not on the tape: who asks, and in what it differs from the nearest call that is."""

from itertools import zip_longest
from typing import Final

from engine.errors import ProviderError
from engine.llm.cassette.index import Call, Index, TapeError
from engine.llm.cassette.lines import Asked, CallLine
from engine.llm.cassette.program import program
from engine.records.clean import one_line

_SHOWN: Final = 60
"""Characters of texts that differ."""
_BEFORE: Final = 15
"""Of them, those that are still the same: about as many, and whole words."""


class NotOnTapeError(ProviderError):
    """A call that is not on the tape: the game is not the one that was recorded."""


def missing(index: Index, asked: Asked, ended: bytearray, *, over: bool) -> NotOnTapeError:
    """The error for a request. `ended` says by line what was asked for already, `over` whether that was everything."""
    who = f"{asked.task} for {one_line(asked.entity)} in round {asked.round}"
    title = index.titles[-1]
    here = program()
    version = f"version ({title.program}; this is {here})" if title.program != here else f"version ({here})"
    advice = f"Replay with the same world files, {version} and seed ({title.seed}) as it was recorded with."
    why = _why(index, asked, ended)
    if index.calls and over:
        why, advice = f"All calls on it have been replayed: the recording ends here, in round {index.last_round}.", ""
    return NotOnTapeError(f"{index.path} holds no such call: {who}. {why}", advice, trouble="unknown_model")


def _why(index: Index, asked: Asked, ended: bytearray) -> str:
    if not index.calls:
        return "There are no calls on it."
    if asked.round > index.last_round:
        return f"It ends in round {index.last_round}, and {ended.count(0)} of its calls were not asked for."
    if asked.key in index.by_key:
        return "It was asked less often when it was recorded."
    call = _nearest(index, asked, ended)
    if call is None:
        return f"Nobody was asked for {asked.task} when it was recorded."
    if (call.entity, call.round) != (asked.entity, asked.round):
        return f"The nearest is {asked.task} for {one_line(call.entity)} in round {call.round}."
    try:
        line = index.line(call.offset)
    except TapeError as error:
        return str(error)
    assert isinstance(line, CallLine)
    return _difference(line.asked, asked)


def _nearest(index: Index, asked: Asked, ended: bytearray) -> Call | None:
    """The call of the same task that is likest: of the same round and entity, not asked for yet, early on the tape."""

    def far(item: tuple[int, Call]) -> tuple[bool, int, bool, int]:
        number, call = item
        return call.entity != asked.entity, abs(call.round - asked.round), bool(ended[number]), number

    found = min(((number, call) for number, call in index.calls.items() if call.task == asked.task), key=far, default=None)
    return found[1] if found else None


def _difference(then: Asked, now: Asked) -> str:
    if then == now:
        return "There the tape was changed by hand."
    if then.seed != now.seed:
        return f"The seed of chance was {then.seed}, now it is {now.seed}."
    if then.template != now.template:
        return f"The template was {one_line(then.template) or 'none'}, now it is {one_line(now.template) or 'none'}."
    if then.messages != now.messages:
        was, is_ = _parted(then.text, now.text)
        return f'The words that are sent differ, first where they were "{was}" and are "{is_}" now.'
    names = [name for name in ("attempt", "response", "choices", "max_tokens", "temperature") if getattr(then, name) != getattr(now, name)]
    return f"What differs is {', '.join(names)}."


def _parted(then: str, now: str) -> tuple[str, str]:
    """Where two texts begin to differ, with a few characters before."""
    same = next((place for place, (a, b) in enumerate(zip_longest(then, now)) if a != b), 0)
    start = max(then.rfind(" ", 0, max(0, same - _BEFORE)) + 1, same - 2 * _BEFORE, 0)
    return _shown(then, start), _shown(now, start)


def _shown(text: str, start: int) -> str:
    part = one_line(text[start : start + _SHOWN])
    return f"{'…' if start else ''}{part}{'…' if start + _SHOWN < len(text) else ''}"
