"""Where a memory comes from, and the signs a memory carries: shared by the ledger, the review and the archive."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.glyphs import PIN_HAND, TOLD_FROM
from tui.panes.rows import Row
from tui.text import capital, count, plain

if TYPE_CHECKING:
    from engine.memory_views import Provenance, SourceLine
    from engine.records.memory import LedgerEntry

_STEPS = "▁▂▃▄▅▆▇█"
_MARKS = "“”\" "
_WHERE = {"buffer": "still in mind", "promoted": "kept here", "forgotten": "forgotten"}
_LEAD = "      "


def weight(importance: int) -> Content:
    """Importance as a number and as a bar of one cell."""
    style = ".key" if importance >= 7 else ".quiet"
    return Content.styled(f"{importance:>2} {_STEPS[min((importance - 1) * len(_STEPS) // 10, len(_STEPS) - 1)]}", style)


def quoted(quotes: Sequence[str]) -> list[Content]:
    """What was said word for word, a line each."""
    return [Content.styled(f"“{plain(quote).strip(_MARKS)}”", ".quote") for quote in quotes]


def signs(entry: "LedgerEntry") -> list[str]:
    """What sets a memory apart from what a handoff wrote once: for the line below it."""
    if entry.origin == "hand":
        return [f"{PIN_HAND} {'changed' if entry.version > 1 else 'written'} by hand"]
    if entry.origin == "compression":
        return [f"{TOLD_FROM} told from older memories"]
    return [f"brought up to date {count(entry.version - 1, 'time')}"] if entry.version > 1 else []


def source_row(source: "SourceLine", fate: bool = True) -> Row:
    """One moment that a memory was made of, when it was and, with `fate`, where it is now."""
    where = f", {_WHERE[source.where]}" if fate else ""
    return _piece("↳", source.text, f"{source.when}{where}")


def told_row(text: str, about: str) -> Row:
    """One memory that was told by another."""
    return _piece(TOLD_FROM, text, about)


def _piece(sign: str, text: str, about: str, style: str = ".deed") -> Row:
    words = plain(text).removesuffix(" (Outcome: succeeded)")
    return Row(Content.assemble((words, style), (f"  {plain(about)}", ".quiet")), lead=Content.styled(f"{_LEAD}{sign} ", ".quiet"))


def provenance_rows(provenance: "Provenance") -> list[Row]:
    """What a memory was made of, what it said before, how often it came to mind."""
    rows = [source_row(source) for source in provenance.sources]
    for line in provenance.told:
        rows.append(told_row(line.text, f"{line.when}, {'merged into it' if line.memory.fate == 'merged' else 'told by it now'}"))
    rows += [_piece("~", text, "said before", ".thought") for text in reversed(provenance.versions)]
    if not rows:
        rows.append(_line(_NOTHING[provenance.origin]))
    about = [_born(provenance)]
    if provenance.use is not None:
        about.append(f"came to mind {count(provenance.use.retrieval_count, 'time')}")
    rows.append(_line(capital(" · ".join(part for part in about if part)) or "It has not come to mind yet"))
    return rows


_NOTHING = {
    "world": "It came with the world: no moments are kept of it.",
    "hand": "Written by hand: it was made of no moment.",
    "handoff": "The moments it was made of are not kept.",
    "compression": "The memories it was told from are not kept.",
}


def _born(provenance: "Provenance") -> str:
    run, entry = provenance.run, provenance.entry
    if run is None:
        return f"in the ledger since round {entry.created_round}" if entry.created_round else ""
    said = {"auto": "", "accepted": ", with your word"}.get(run.decision, "")
    return f"{'handoff' if run.kind == 'handoff' else 'compression'} of round {run.round}{said}: {plain(run.reason)}"


def _line(text: str) -> Row:
    return Row(Content.styled(text, ".quiet"), lead=Content(f"{_LEAD}  "))
