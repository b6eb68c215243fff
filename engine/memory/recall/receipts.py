"""What a recollection says of itself: the whole pool in figures, and in words what went in and what just missed (DESIGN 8)."""

from collections.abc import Callable, Sequence

from pydantic import TypeAdapter

from engine.memory.lore import Line
from engine.memory.recall.choosing import Choice, Offer
from engine.memory.recall.pool import Pool
from engine.memory.recall.scoring import PARTS
from engine.mind.aliases import names_for
from engine.mind.render import render
from engine.mind.voice import recount, remembered
from engine.records.base import EntityId
from engine.records.prompts import Candidate, Leg, Receipt
from engine.records.tokens import referred
from engine.records.world import World

_CANDIDATES = TypeAdapter(tuple[Candidate, ...])
"""Makes a hundred at once, in a third of the time."""
_FIRST_WORDS = 90
"""Characters of a memory that a receipt shows."""


def candidates(pool: Pool, choice: Choice) -> tuple[Candidate, ...]:
    """The whole pool, best first, then what was taken along beside it."""
    ranked, ids = pool.ranked, pool.vectors.ids
    chosen = {offer.row: offer for offer, _ in choice.chosen}
    columns = ranked.columns()
    told: list[dict[str, object]] = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    rows = [*ranked.rows, *(row for row in chosen if ranked.place(row) == 0)]
    told += [dict.fromkeys(columns, 0.0) for _ in rows[len(told) :]]
    for row, values in zip(rows, told, strict=True):
        taken = row in chosen
        values |= {"source": ids[row], "rank": ranked.place(row), "chosen": taken}
        values["found_by"] = _found_by(pool, row, chosen[row]) if taken else pool.legs[row]
    return _CANDIDATES.validate_python(told)


def receipts(
    world: World, owner: EntityId, pool: Pool | None, choice: Choice, lines: Sequence[Line], count_tokens: Callable[[str], int]
) -> tuple[Receipt, ...]:
    """How each of the chosen, of those that just missed and of what is known came out, in the owner's words."""
    shown = [(offer, reason, True) for offer, reason in choice.chosen] + [(offer, reason, False) for offer, reason in choice.just_missed()]
    mentioned = [entity for offer, _, _ in shown for entity in remembered(offer.entry)]
    names = names_for(world, owner, [*mentioned, *(entity for line in lines for entity in referred(line.text))])
    made = [
        Receipt(
            source=offer.entry.id, text=_first_words(recount(offer.entry, names)[0]), chosen=chosen, reason=reason, tokens=offer.tokens,
            rank=pool.ranked.place(offer.row), found_by=_found_by(pool, offer.row, offer), **pool.ranked.parts(offer.row),
        )
        for offer, reason, chosen in shown
        if pool is not None
    ]
    return (*made, *(_known(line, render(line.text, names), line.source not in choice.untold, count_tokens) for line in lines))


def _known(line: Line, text: str, chosen: bool, count_tokens: Callable[[str], int]) -> Receipt:
    """A line that was called up scores its holder's confidence; what is always in mind scores nothing."""
    score = line.confidence if line.key else 0.0
    reason = f"called up by {line.key}" if line.key else "always in mind"
    return Receipt(
        source=line.source, text=_first_words(text), tier="knowledge", chosen=chosen, tokens=count_tokens(text),
        reason=reason if chosen else "a memory tells the same", **dict.fromkeys(PARTS, 0.0) | {"score": score, "words": score},
    )


def _found_by(pool: Pool, row: int, offer: Offer | None) -> tuple[Leg, ...]:
    legs = pool.legs.get(row, ())
    return (*legs, "chain") if offer is not None and offer.rank == 0 else legs


def _first_words(text: str) -> str:
    return text if len(text) <= _FIRST_WORDS else text[: _FIRST_WORDS - 1].rstrip() + "\u2026"
