"""The choice among ranked memories: what is chosen does not depend on how many are offered behind those that decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from engine.memory.recall.choosing import Chooser, Offer
from engine.records.memory import LedgerEntry

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

drawn = st.tuples(
    st.sampled_from(["It rained.", "It rained all night.", "Tom sang.", "The mill burned to the ground."]),
    st.sampled_from([(), ("en_sailor",), ("en_stranger",)]),
    st.integers(0, 3),
    st.integers(5, 60),
)


def offers(inn: Inn, drawn: list[tuple[str, tuple[str, ...], int, int]]) -> list[Offer]:
    return [
        Offer(
            row, LedgerEntry(id=f"led-{row}", seq=row + 1, **inn.memory(text, 100, who=who).model_dump()), frozenset(who),
            frozenset({f"buf-{source}"} if source else ()), tokens, row + 1,
        )
        for row, (text, who, source, tokens) in enumerate(drawn)
    ]


@given(
    st.lists(drawn, min_size=14, max_size=30), st.integers(8, 24), st.integers(1, 4), st.sampled_from([None, 60, 120, 400]),
    st.lists(st.integers(0, 29), max_size=4, unique=True), st.integers(0, 3),
)
def test_a_settled_choice_is_the_choice_among_all(
    inn: Inn, drawn: list[tuple[str, tuple[str, ...], int, int]], front: int, limit: int, budget: int | None, near: list[int], room: int
) -> None:
    ranked = offers(inn, drawn)
    chained = [ranked[row]._replace(rank=0) for row in near if row < len(ranked)]
    alike = Chooser(limit, budget, 0.9, lambda a, b: 1.0 if ranked[a].entry.content == ranked[b].entry.content else 0.95 * ((a + b) % 2))
    few, all_of_them = alike.choose(ranked[:front], chained, room), alike.choose(ranked, chained, room)
    if few.settled:
        assert few.chosen == all_of_them.chosen
        assert few.untold == all_of_them.untold


def test_a_choice_is_settled_by_five_that_were_kept_out(inn: Inn) -> None:
    ranked = offers(inn, [(f"Moment {n} came to pass.", (), 0, 10) for n in range(20)])
    chooser = Chooser(4, None, 2.0, lambda a, b: 0.0)
    assert [chooser.choose(ranked[:count], [], 0).settled for count in (4, 9, 10, 20)] == [False, False, True, True]


def test_who_is_within_the_limit_and_missed_is_told_who_took_the_places(inn: Inn) -> None:
    ranked = offers(inn, [(f"Moment {n} came to pass.", (), 0, 10) for n in range(20)])
    chained = [one._replace(rank=0) for one in ranked[17:]]
    choice = Chooser(12, None, 2.0, lambda a, b: 0.0).choose(ranked[:16], chained, 3)
    told = {offer.rank: reason for offer, reason in choice.just_missed()}
    assert told[10] == "ranked 10: 9 by rank and 3 next to the best fill the 12 places"
    assert told[13] == "ranked 13, limit 12"
    plain = Chooser(12, None, 2.0, lambda a, b: 0.0).choose(ranked, [], 0)
    assert next(reason for _, reason in plain.just_missed()) == "ranked 13, limit 12"
