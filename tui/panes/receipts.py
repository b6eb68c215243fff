"""How memories were chosen for a prompt: what was asked, the score of each in its parts, what just missed, and the whole pool."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from engine.records.base import EntityId
from tui.glyphs import REFUSED
from tui.panes.rows import Row
from tui.text import count, plain

if TYPE_CHECKING:
    from engine.records.prompts import Candidate, PromptReport, Receipt

RECEIPT, POOL = "receipt:", "pool"
"""Keys of rows: a receipt is opened and closed, the pool of candidates too."""
_BAR = 24
"""Cells of the best score."""
PARTS = (
    ("meaning", "m", ".key"), ("words", "w", ".speech"), ("people", "p", ".good"), ("neighbours", "n", ".thought"),
    ("recency", "r", ".quiet"), ("importance", "i", ".candidate"),
)
"""The parts of a score: name, the letter that draws it, colour."""
_LEGS = {
    "place": "same place", "people": "people in focus", "grave": "grave", "words": "same words", "meaning": "like meaning", "newest": "new",
    "chain": "next to one of the best",
}


def considered(
    report: "PromptReport", name: Callable[[EntityId], str], opened: Collection[str] = (), texts: Mapping[str, str] | None = None,
) -> list[Row]:
    """All rows about how memories were chosen. `opened` are keys of rows that show all they know, `texts` the accounts of candidates
    as far as they have been read."""
    best = max((receipt.score for receipt in report.receipts), default=0.0) or 1.0
    rows = _asked(report, name)
    if report.receipts:
        legend = [piece for word, letter, style in PARTS for piece in ((letter, style), (f"{word.removeprefix(letter)}  ", ".quiet"))]
        rows.append(Row(Content.assemble(*legend), lead=Content.styled(" bar of  ", ".quiet")))
    rows += [receipt_row(receipt, best, RECEIPT + receipt.source in opened) for receipt in report.receipts if receipt.chosen]
    missed = [receipt for receipt in report.receipts if not receipt.chosen]
    if missed:
        rows.append(Row(Content.styled("just missed", ".quiet"), lead=Content.styled("── ", ".rule"), rule="─"))
    rows += [receipt_row(receipt, best, RECEIPT + receipt.source in opened) for receipt in missed]
    if report.candidates:
        number = count(len(report.candidates), "memory was", "memories were")
        do = "hides them" if POOL in opened else "shows all"
        rows.append(Row(Content.styled(f"{number} looked at closely: enter {do}", ".key"), lead=Content(" "), key=POOL))
    if POOL in opened:
        known = {receipt.source: receipt.text for receipt in report.receipts} | dict(texts or {})
        rows += [candidate_row(one, best, known.get(one.source, "")) for one in report.candidates]
    return rows


def _asked(report: "PromptReport", name: Callable[[EntityId], str]) -> list[Row]:
    rows = []
    if report.query:
        rows.append(Row(Content.styled(plain(report.query), ".quote"), lead=Content.styled(" asked   ", ".quiet")))
    if report.focus:
        people = ", ".join(plain(name(entity)) for entity in report.focus)
        rows.append(Row(Content.styled(people, ".deed"), lead=Content.styled(" focus   ", ".quiet")))
    return rows


def receipt_row(receipt: "Receipt", best: float, opened: bool = False) -> Row:
    """One memory: place in the ranking, score, a bar of its parts. Opened, the parts as numbers and how it was found."""
    mark, style = ("✓ ", ".good") if receipt.chosen else (f"{REFUSED} ", ".quiet")
    rank = f"{receipt.rank:>3}" if receipt.rank else "  ·"
    lines = [Content.styled(plain(receipt.text), ".deed" if receipt.chosen else ".quiet"), score_bar(receipt, best)]
    why = [plain(receipt.reason)] if receipt.reason and (opened or not receipt.chosen) else []
    if opened:
        lines.append(Content.styled(_numbers(receipt), ".deed"))
        legs = ", ".join(_LEGS.get(leg, leg) for leg in receipt.found_by)
        why += [f"found by: {legs}"] if legs else []
        why += [receipt.source]
    lines += [Content.styled(" · ".join(why), ".quiet")] if why else []
    tier = "known · " if receipt.tier == "knowledge" else ""
    tail = Content.styled(f"{tier}{receipt.tokens:,} tok" if receipt.tokens else tier.removesuffix(" · "), ".quiet")
    lead = Content.assemble((mark, style), (f"{rank} ", ".quiet"), (f"{receipt.score:.2f}  ", style))
    return Row(Content("\n").join(lines), lead=lead, tail=tail, key=RECEIPT + receipt.source)


def candidate_row(candidate: "Candidate", best: float, text: str) -> Row:
    """One line of the pool."""
    mark, style = ("✓ ", ".good") if candidate.chosen else ("  ", ".quiet")
    lead = Content.assemble((mark, style), (f"{candidate.rank:>3} ", ".quiet"), (f"{candidate.score:.2f}  ", style))
    about = Content.styled(plain(text) or candidate.source, ".quiet")
    legs = ", ".join(_LEGS.get(leg, leg) for leg in candidate.found_by)
    return Row(Content("\n").join([about, score_bar(candidate, best) + Content.styled(f"  {legs}" if legs else "", ".quiet")]), lead=lead)


def score_bar(scored: "Receipt | Candidate", best: float) -> Content:
    """A score as a bar of letters, each part by its own: told apart without colour. The best score fills the bar."""
    pieces: list[tuple[str, str]] = []
    drawn, total = 0, 0.0
    for value, letter, style in _split(scored):
        total += max(value, 0.0)
        upto = min(round(total / best * _BAR), _BAR) if best > 0 else 0
        pieces.append((letter * max(upto - drawn, 0), style))
        drawn = max(drawn, upto)
    return Content.assemble(*pieces, ("·" * (_BAR - drawn), ".bar-rest"))


def _split(scored: "Receipt | Candidate") -> list[tuple[float, str, str]]:
    values = (scored.cosine, scored.words, scored.involved, scored.smoothed, scored.recency, scored.importance)
    return [(value, letter, style) for value, (_, letter, style) in zip(values, PARTS, strict=True)]


def _numbers(scored: "Receipt | Candidate") -> str:
    names = (name for name, _, _ in PARTS)
    return "  ".join(f"{name} {value:.2f}" for name, (value, _, _) in zip(names, _split(scored), strict=True) if abs(value) >= 0.005)
