"""Changes of a save grouped into what a person takes back at once, and told in a few words. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from engine.mind.render import capital
from engine.records.base import EntityId
from engine.records.history import Change, ChangeKind, Preview, Step
from engine.records.tokens import substitute

_NOUNS: Final[Mapping[ChangeKind, tuple[str, str]]] = {
    "beat": ("beat", "beats"), "handoff": ("handoff", "handoffs"), "compression": ("compression", "compressions"),
    "proposal": ("proposal", "proposals"), "review": ("decision", "decisions"), "collapse": ("collapse", "collapses"),
    "promotion": ("promotion", "promotions"), "hand": ("change by hand", "changes by hand"), "other": ("other change", "other changes"),
}  # fmt: skip
_ROWS: Final = {"ledger_entries": ("memory", "memories"), "knowledge": ("piece of knowledge", "pieces of knowledge")}
"""What people count of rows that changes brought."""

Rows = Mapping[tuple[str, str], int]
Names = Callable[[EntityId], str]


def grouped(changes: Iterable[Change]) -> list[tuple[Change, ...]]:
    """Changes, given newest first, as steps, newest first, each in the order in which it was made: upkeep belongs to what came before it,
    the beginning of a round to what came after."""
    steps: list[list[Change]] = []
    whole = True
    for change in changes:
        begins = change.kind == "round"
        if whole and not (begins and steps and steps[-1][-1].kind != "upkeep"):
            steps.append([])
        steps[-1].append(change)
        whole = change.kind != "upkeep"
    return [tuple(reversed(step)) for step in steps]


def told(changes: tuple[Change, ...], name: Names) -> Step:
    """A step with its label in somebody's names."""
    step = Step(changes=changes, label="-")
    return step.model_copy(update={"label": capital(substitute(step.main.label or "Something was changed", name))})


def preview(steps: Sequence[Step], rows: Rows, *, back: bool) -> Preview:
    """What taking back, or bringing again, these steps comes to. `rows` counts the rows that they brought, took and changed."""
    totals: Counter[str] = Counter()
    for (table, _), count in rows.items():
        totals[table] += count
    return Preview(steps=tuple(steps), back=back, text=_text(steps, rows), rows=dict(totals))


def _text(steps: Sequence[Step], rows: Rows) -> str:
    if not steps:
        return ""
    brought = [_counted(rows[table, "+"], *nouns) for table, nouns in _ROWS.items() if rows.get((table, "+"))]
    with_ = f", with {' and '.join(brought)}" if brought else ""
    if len(steps) == 1:
        return f"{steps[0].label}{with_}"
    rounds = [_round(number, list(of_round)) for number, of_round in groupby(steps, key=lambda step: step.main.round)]
    return f"{'; '.join(rounds)}{with_}"


def _round(number: int, steps: Sequence[Step]) -> str:
    kinds = Counter(step.main.kind for step in steps)
    counts = [_counted(kinds[kind], *nouns) for kind, nouns in _NOUNS.items() if kinds[kind]]
    whole = any(step.begins_round for step in steps)
    return f"{'all of ' if whole else ''}round {number}{': ' if counts else ''}{', '.join(counts)}"


def _counted(count: int, noun: str, nouns: str) -> str:
    return f"{count} {noun if count == 1 else nouns}"
