"""What left a memory, as lists and in full: moments that were kept or forgotten, memories taken out or told by others, near-duplicates."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from textual.content import Content

from engine.memory_views import ArchivedMemoryLine, ArchiveLine
from engine.records.review import NearDuplicate
from engine.views import LedgerLine
from tui.glyphs import DEED, SPEECH, THOUGHT, TOLD_FROM
from tui.panes.origins import quoted, weight
from tui.panes.paragraphs import gap, head, keys, quiet, text
from tui.panes.rows import Row
from tui.text import capital, plain

Shelf = Literal["moments", "memories", "twins"]
SHELVES: Mapping[Shelf, str] = {"moments": "Moments", "memories": "Memories", "twins": "Near-duplicates"}
FATES: Mapping[Shelf, Sequence[str]] = {
    "moments": ("forgotten", "promoted"), "memories": ("removed", "merged", "consolidated"), "twins": (),
}
_MODES = {"said": SPEECH, "done": DEED, "thought": THOUGHT}
_SAID = {
    "promoted": "kept", "forgotten": "forgotten", "removed": "removed", "merged": "merged", "consolidated": "consolidated",
}
"""Fates as people read them."""


class Twins(NamedTuple):
    """Two memories that tell nearly the same."""

    first: LedgerLine
    second: LedgerLine
    cosine: float


Line = ArchiveLine | ArchivedMemoryLine | Twins
"""One thing on a shelf. It is put into rows only when it is looked at: there may be tens of thousands."""


def key_of(line: Line) -> str:
    """By which its row is known."""
    match line:
        case ArchiveLine(entry=entry):
            return entry.id
        case ArchivedMemoryLine(memory=memory):
            return memory.entry.id
        case Twins(first, second):
            return f"{first.entry.id} {second.entry.id}"


def fate_of(line: Line) -> str:
    """Why it left; nothing for what is still there."""
    match line:
        case ArchiveLine(fate=fate):
            return fate
        case ArchivedMemoryLine(memory=memory):
            return memory.fate
        case Twins():
            return ""


def memory_of(line: Line) -> str:
    """The ledger entry whose origin can be shown, if there is one."""
    match line:
        case ArchiveLine(ledger_id=ledger_id):
            return ledger_id or ""
        case ArchivedMemoryLine(memory=memory):
            return memory.entry.id
        case Twins(first):
            return first.entry.id


def holds(line: Line, words: Sequence[str]) -> bool:
    """Whether a line tells of all these words, which are in lower case."""
    match line:
        case Twins(first, second):
            text = f"{first.text} {second.text}"
        case _:
            text = f"{line.text} {line.when} {line.became} {getattr(line, 'place', '')}"
    folded = text.casefold()
    return all(word in folded for word in words)


def row_of(line: Line) -> Row:
    """Its row in the list."""
    match line:
        case ArchiveLine():
            return _moment_row(line)
        case ArchivedMemoryLine():
            return _gone_row(line)
        case Twins():
            return _twin_row(line)


def detail_of(line: Line) -> list[Row]:
    """All that is known of it."""
    match line:
        case ArchiveLine():
            return _moment_detail(line)
        case ArchivedMemoryLine():
            return _gone_detail(line)
        case Twins():
            return _twin_detail(line)


def fate_words(fate: str) -> str:
    """A fate as people read it."""
    return _SAID.get(fate, fate)


def _moment_row(line: ArchiveLine) -> Row:
    about = " · ".join(part for part in (plain(line.when), plain(line.place), f"round {line.round}") if part)
    style = ".thought" if line.entry.mode == "thought" else ".deed"
    body = Content.assemble((_told(line), style), "\n", (about, ".quiet"))
    fate = Content.styled(fate_words(line.fate), ".good" if line.fate == "promoted" else ".quiet")
    return Row(body, lead=Content.styled(f"{_MODES[line.entry.mode]} ", ".quiet"), tail=fate, key=line.entry.id)


def _moment_detail(line: ArchiveLine) -> list[Row]:
    where = f", {plain(line.place)}" if line.place else ""
    rows = [
        text(_told(line)), quiet(f"{capital(plain(line.when))}{where}."), gap(),
        quiet(f"{capital(fate_words(line.fate))} by the handoff of round {line.round}: {plain(line.reason)}."),
    ]
    if line.became:
        rows += [gap(), head("It became"), text(plain(line.became), ".quote")]
    rows += [gap(), keys("u", "puts it back into mind, pinned by your hand")]
    return rows + ([keys("enter", "shows where that memory comes from")] if line.ledger_id else [])


def _told(line: ArchiveLine) -> str:
    return plain(line.text).removesuffix(" (Outcome: succeeded)")


def _gone_row(line: ArchivedMemoryLine) -> Row:
    entry = line.memory.entry
    body = Content.assemble((plain(line.text), ".deed"), "\n", (f"{plain(line.when)} · left in round {line.memory.round}", ".quiet"))
    tail = Content.styled(fate_words(line.memory.fate), ".quiet")
    return Row(body, lead=weight(entry.importance) + Content("  "), tail=tail, key=entry.id)


def _gone_detail(line: ArchivedMemoryLine) -> list[Row]:
    rows = [text(plain(line.text)), *(Row(quote, lead=Content(" ")) for quote in quoted(line.memory.entry.quotes))]
    rows += [quiet(f"{capital(plain(line.when))}."), gap(), quiet(f"{_HOW[line.memory.fate]} in round {line.memory.round}.")]
    if line.became:
        rows += [gap(), head("It is told by"), text(plain(line.became), ".quote")]
    return [*rows, gap(), keys("u", "puts it back into the ledger"), keys("enter", "shows where it comes from")]


_HOW = {
    "removed": "Taken out by hand", "merged": "Merged into a near-duplicate", "consolidated": "Told together with other old memories",
}


def twins(pairs: Sequence[NearDuplicate], ledger: Sequence[LedgerLine]) -> list[Twins]:
    """Pairs with what they say, without those of which one has left meanwhile."""
    lines = {line.entry.id: line for line in ledger}
    return [Twins(lines[pair.first], lines[pair.second], pair.cosine) for pair in pairs if {pair.first, pair.second} <= lines.keys()]


def _twin_row(pair: Twins) -> Row:
    body = Content.assemble((plain(pair.first.text), ".deed"), "\n", (plain(pair.second.text), ".thought"))
    lead, tail = Content.styled(f"{TOLD_FROM} ", ".candidate"), Content.styled(f"{pair.cosine:.2f} alike", ".quiet")
    return Row(body, lead=lead, tail=tail, key=key_of(pair))


def _twin_detail(pair: Twins) -> list[Row]:
    return [
        head("This one stays"), _whole(pair.first), gap(), head("This one goes into it"), _whole(pair.second), gap(),
        quiet(f"Their meaning is {pair.cosine:.2f} alike; 1 would be the same."), gap(),
        keys("m", "merges them: quotes, people and sources are united"), keys("enter", "shows where the first comes from"),
    ]


def _whole(line: LedgerLine) -> Row:
    body = Content("\n").join([
        Content.styled(plain(line.text), ".deed"), *quoted(line.entry.quotes), Content.styled(plain(line.when), ".quiet"),
    ])
    return Row(body, lead=weight(line.entry.importance) + Content("  "))


EMPTY: Mapping[Shelf, str] = {
    "moments": "Nothing has left working memory yet.",
    "memories": "Nothing has left the ledger: no memory was removed, merged or told with others.",
    "twins": "No two memories tell nearly the same.",
}
