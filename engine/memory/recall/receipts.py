"""What a recollection says of itself: the whole pool in figures, and in words what went in and what just missed (DESIGN 8)."""

from collections.abc import Callable

from pydantic import TypeAdapter

from engine.memory.lore import Line
from engine.memory.recall.choosing import Choice, Offer
from engine.memory.recall.knowledge import Known
from engine.memory.recall.pool import Pool
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
    world: World, owner: EntityId, pool: Pool | None, choice: Choice, known: Known, count_tokens: Callable[[str], int]
) -> tuple[Receipt, ...]:
    """How each of the chosen, of those that just missed and of what is known came out, in the owner's words."""
    shown = [(offer, reason, True) for offer, reason in choice.chosen] + [(offer, reason, False) for offer, reason in choice.just_missed()]
    mentioned = [entity for offer, _, _ in shown for entity in remembered(offer.entry)]
    names = names_for(world, owner, [*mentioned, *(entity for line in (*known.lines, *known.missed) for entity in referred(line.text))])
    made = [
        Receipt(
            source=offer.entry.id, text=_first_words(recount(offer.entry, names)[0]), chosen=chosen, reason=reason, tokens=offer.tokens,
            rank=pool.ranked.place(offer.row), found_by=_found_by(pool, offer.row, offer), **pool.ranked.parts(offer.row),
        )
        for offer, reason, chosen in shown
        if pool is not None
    ]
    same = "a memory tells the same"
    known_lines = [(line, False, same) if line.source in choice.untold else (line, True, line.why) for line in known.lines]
    known_lines += [(line, False, line.why) for line in known.missed]
    return (*made, *(_known(line, render(line.text, names), taken, why, count_tokens) for line, taken, why in known_lines))


def _known(line: Line, text: str, chosen: bool, reason: str, count_tokens: Callable[[str], int]) -> Receipt:
    return Receipt(
        source=line.source, text=_first_words(text), tier="knowledge", chosen=chosen, tokens=count_tokens(text), reason=reason,
        score=line.score, recency=line.recency, importance=line.importance, cosine=line.cosine, words=line.words,
        involved=line.involved, smoothed=0.0, found_by=line.found_by,
    )


def _found_by(pool: Pool, row: int, offer: Offer | None) -> tuple[Leg, ...]:
    legs = pool.legs.get(row, ())
    return (*legs, "chain") if offer is not None and offer.rank == 0 else legs


def _first_words(text: str) -> str:
    return text if len(text) <= _FIRST_WORDS else text[: _FIRST_WORDS - 1].rstrip() + "\u2026"
