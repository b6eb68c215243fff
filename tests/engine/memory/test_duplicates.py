"""What counts as telling the same, and the audit that lists it."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.hashing import Hash768
from engine.memory import audit
from engine.memory.audit import near_duplicates
from engine.memory.duplicates import (
    adds_nothing,
    all_quotes,
    at_odds,
    same_people,
    same_words,
    says_the_same,
)  # fmt: skip
from engine.memory.reembedding import embed_missing
from engine.memory.text import plain
from engine.memory.wording import content, in_order, negations, numbers, opposed, sentences
from engine.records.authored import AuthoredWorld
from engine.records.memory import LedgerEntry
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

THEN = datetime(1247, 3, 1)
TOM, ODO, ME = "{{e:en_sailor}}", "{{e:en_monk}}", "{{e:en_bryn}}"


def entry(text: str, *quotes: str, who: tuple[str, ...] = ("en_sailor",)) -> LedgerEntry:
    return LedgerEntry(
        id="l", seq=1, owner_id="en_bryn", timestamp=THEN, ended=THEN, location_id=None, content=text, quotes=quotes, importance=5,
        involved_entity_ids=who,
    )


DIFFERENT = [
    (f"{TOM} paid 3 coins.", f"{TOM} paid 5 coins."),
    (f"{TOM} paid three coins.", f"{TOM} paid five coins."),
    (f"{TOM} paid for the boat.", f"{TOM} did not pay for the boat."),
    (f"{TOM} agreed to sail.", f"{TOM} refused to sail."),
    (f"{TOM} struck {ODO}.", f"{ODO} struck {TOM}."),
    (f"{TOM} struck {ME}.", f"{ME} struck {TOM}."),
    (f"{TOM} left.", f"{ODO} left."),
    (f"{TOM} sailed for Norwick at dawn.", f"{TOM} sailed for Sudwick at dawn."),
    (f"{TOM} went up the tower.", f"{TOM} went down the tower."),
    (f"{TOM} came from the mill.", f"{TOM} went to the mill."),
    (f"{TOM} asked who had the key.", f"{TOM} asked where the key was."),
    ("The smith blamed the miller.", "The miller blamed the smith."),
    (f"{TOM} walked from the loft to the landing.", f"{TOM} walked from the landing to the loft."),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_in_number_denial_name_or_order_is_not_the_same(one: str, other: str) -> None:
    everybody = ("en_sailor", "en_monk")
    a, b = entry(one, who=everybody), entry(other, who=everybody)
    assert not says_the_same(a, b)
    assert not says_the_same(b, a)
    assert says_the_same(a, a)


ALIKE = [
    (f"{TOM} hid the lantern in the mill.", f"{TOM} once more hides the lantern in the mill."),
    (f"{TOM} told {ME} that he sold three boats at the fair.", f"{TOM} said that he had sold 3 boats at the fair."),
    (f"{TOM} broke the lock and took the oar.", f"{TOM} has broken the lock and taken the oar."),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_other_forms_and_words_of_telling_make_no_difference(one: str, other: str) -> None:
    assert says_the_same(entry(one), entry(other))
    assert same_words(entry(one), entry(other))


def test_quotes_are_compared_where_both_have_some() -> None:
    told = f"{TOM} named his price."
    assert says_the_same(entry(told, "Three coins."), entry(told))
    assert not says_the_same(entry(told, "Three coins."), entry(told, "Four coins."))


def test_one_that_says_more_is_not_at_odds_and_one_that_says_otherwise_is() -> None:
    assert not at_odds(entry(f"{TOM} sold the horse."), entry(f"{TOM} sold the grey horse at the fair."))
    assert at_odds(entry(f"{TOM} sold the grey horse."), entry(f"{TOM} sold the grey mule."))


def test_people_agree_when_one_account_has_all_of_the_other() -> None:
    assert same_people(entry("It rained.", who=("a",)), entry("It rained.", who=("a", "b")))
    assert not same_people(entry("It rained.", who=("a", "c")), entry("It rained.", who=("a", "b")))


def test_an_account_adds_nothing_only_when_all_of_it_is_told() -> None:
    held = entry(f"{TOM} lost his red boat and two oars in the storm.")
    assert adds_nothing(entry(f"{TOM} lost his boat in the storm."), held)
    for other in (f"{TOM} lost his boat in the harbour.", f"{TOM} never lost his boat in the storm.", f"{ODO} lost his boat in the storm.",
                  f"{TOM} lost four boats in the storm."):  # fmt: skip
        assert not adds_nothing(entry(other), held)


def test_a_quote_that_says_what_another_says_is_not_kept_beside_it() -> None:
    held = ("Bring the silver lantern to the mill.",)
    assert all_quotes(held, ["Bring again the silver lantern to the mill."]) == held
    for new in ("Bring two silver lanterns to the mill.", "Never bring the silver lantern to the mill.", "Aye."):
        assert all_quotes(held, [new, new]) == (*held, new)


def test_the_pieces_of_a_text() -> None:
    assert content("He said again that {{e:en_sailor}}'s boats were sold.") == content("He sells boats")
    assert numbers("Twelve of {{e:en_2}}, 3.5 miles and a dozen") == ("12", "12", "3.5")
    assert negations("He didn't, and nobody never would.") == 3
    assert sentences('One. "Two!" Three?\n- Four') == ["One.", '"Two!', "Three?", "Four"]
    assert opposed("up the hill", "down the hill")
    assert not opposed("up the hill", "on the hill")
    assert in_order("the smith saw the mill", "a smith; the old mill")


WORDS = st.lists(
    st.sampled_from(["boat", "mill", "lantern", "smith", "coin", "rope", "sail", "tide", "oar", "drum", "salt", "iron"]),
    min_size=1, max_size=9,
)  # fmt: skip
TEXTS = st.builds(lambda words, end: " ".join(words) + end, WORDS, st.sampled_from(["", " not", " 3", " two", " up", " down"]))


@given(TEXTS, TEXTS)
def test_judgements_do_not_depend_on_the_order_of_the_two(a: str, b: str) -> None:
    one, other = entry(a), entry(b)
    for judge in (says_the_same, same_people, same_words, at_odds):
        assert judge(one, other) == judge(other, one)
    assert says_the_same(one, one)
    assert adds_nothing(one, other) <= (not content(a) - content(b))


async def remembered(desk: Desk, *texts: str, embed: bool = True) -> list[LedgerEntry]:
    entries = await desk.remember([desk.inn.memory(text, 10 - n, who=("en_sailor",)) for n, text in enumerate(texts)])
    if embed:
        await embed_missing(desk.store, desk.embedder)
    return entries


LONG = "{{e:en_sailor}} hid the silver lantern of the harbour master under the third step of the old quay"


async def test_the_audit_lists_near_pairs_the_nearest_first(desk: Desk) -> None:
    one, two, three, _ = await remembered(desk, LONG + ".", LONG + " alone.", LONG + " again.", "{{e:en_sailor}} slept.")
    found = await near_duplicates(desk.store, desk.embedder, "en_bryn")
    assert (found[0].first, found[0].second) == (one.id, three.id)
    assert {(pair.first, pair.second) for pair in found} == {(one.id, two.id), (one.id, three.id), (two.id, three.id)}
    assert [pair.cosine for pair in found] == sorted((pair.cosine for pair in found), reverse=True)
    assert all(desk.embedder.merge <= pair.cosine <= 1 for pair in found)


async def test_the_audit_of_one_mind_knows_nothing_of_others_and_leaves_out_what_differs(desk: Desk) -> None:
    await remembered(desk, LONG + ".", LONG.replace("third", "fourth") + ".", LONG.replace("hid", "never hid") + ".")
    await desk.remember([desk.inn.memory(LONG + ".", 3, owner="en_smith", who=("en_sailor",))])
    assert await near_duplicates(desk.store, desk.embedder, "en_bryn") == []


async def test_without_vectors_only_the_same_text_counts(desk: Desk) -> None:
    one, _, three = await remembered(desk, LONG + ".", LONG + " alone.", LONG + ".", embed=False)
    [found] = await near_duplicates(desk.store, desk.embedder, "en_bryn")
    assert (found.first, found.second, found.cosine) == (one.id, three.id, 1.0)
    await embed_missing(desk.store, desk.embedder)
    [late] = await desk.remember([desk.inn.memory(LONG + ".", 1, who=("en_sailor",))])
    pairs = {(pair.first, pair.second) for pair in await near_duplicates(desk.store, desk.embedder, "en_bryn")}
    assert {(one.id, late.id), (three.id, late.id)} <= pairs


async def test_the_audit_of_a_ledger_full_of_copies_is_bounded(desk: Desk) -> None:
    add, memory = desk.store.ledger.add, desk.inn.memory(LONG + ".", 3, who=("en_sailor",))
    await desk.store.db.write(lambda conn: [add(conn, memory, (), plain(memory.content, ())) for _ in range(700)])
    await embed_missing(desk.store, desk.embedder)
    found = await near_duplicates(desk.store, desk.embedder, "en_bryn")
    assert len(found) == audit.MOST
    assert len({(pair.first, pair.second) for pair in found}) == audit.MOST


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(WORDS, st.booleans()), max_size=30))
def test_the_audit_finds_what_comparing_each_with_each_finds(inn: Inn, rows: list[tuple[list[str], bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(compared(inn, Path(folder), [(" ".join(words), embed) for words, embed in rows]))


async def compared(inn: Inn, folder: Path, rows: list[tuple[str, bool]]) -> None:
    store, embedder = await Store.create(folder / "inn.db", AuthoredWorld(world=inn.world())), Hash768()
    vectors = await embedder.embed([text for text, _ in rows])

    def write(conn: sqlite3.Connection) -> list[LedgerEntry]:
        entries = [store.ledger.add(conn, inn.memory(text, 5), (), text) for text, _ in rows]
        for one, (_, embed), vector in zip(entries, rows, vectors, strict=True):
            if embed:
                store.embeddings.put(conn, "ledger", one.id, embedder.name, embedder.dim, vector.tobytes())
        return entries

    entries = await store.db.write(write)
    found = await near_duplicates(store, embedder, "en_bryn")
    await store.close()
    wanted = {
        (entries[i].id, entries[j].id)
        for j in range(len(rows)) for i in range(j)
        if (float(vectors[i] @ vectors[j]) >= embedder.merge if rows[i][1] and rows[j][1] else rows[i][0] == rows[j][0])
        and says_the_same(entries[i], entries[j])
    }  # fmt: skip
    assert {(pair.first, pair.second) for pair in found} == wanted
