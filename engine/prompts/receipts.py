"""What a prompt's report says of memories and knowledge once the prompt's own budget has had its say. Pure."""

from collections.abc import Sequence

from engine.records.prompts import Candidate, Cut, Receipt, Recollection

_RECALLED = ("memories", "knowledge")
"""Sections whose rows have receipts."""


def as_sent(recalled: Recollection, cuts: Sequence[Cut]) -> tuple[tuple[Receipt, ...], tuple[Candidate, ...]]:
    """Receipts and candidates of `recalled` in which what was cut from the prompt is not chosen, for the reason of the cut."""
    lost = {cut.source: cut.reason for cut in cuts if cut.section in _RECALLED}
    if not lost:
        return recalled.receipts, recalled.candidates
    return (
        tuple(_cut(one, lost[one.source]) if one.chosen and one.source in lost else one for one in recalled.receipts),
        tuple(one.model_copy(update={"chosen": False}) if one.chosen and one.source in lost else one for one in recalled.candidates),
    )


def _cut(receipt: Receipt, reason: str) -> Receipt:
    return receipt.model_copy(update={"chosen": False, "reason": reason})
