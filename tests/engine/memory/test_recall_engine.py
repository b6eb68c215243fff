from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.llm.hashing import Hash768
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import embed_missing
from engine.records.memory import LedgerEntry, NewLedgerEntry
from engine.records.policies import Policies, RecallPolicy
from engine.records.prompts import Recollection

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk

NEEDLE = "{{e:en_stranger}} buried a silver compass under the third plank of the jetty."


async def recall(desk: Desk, engine: RecallEngine, said: str = "", **more: Any) -> Recollection:
    entries = desk.inn.numbered([desk.inn.said(said, 1)] if said else [])
    return await engine.recall(desk.world, "en_bryn", entries, desk.world.now, **more)


def engine(desk: Desk, **policy: Any) -> RecallEngine:
    return RecallEngine(desk.store, Hash768(), Policies(recall=RecallPolicy(**policy)))


async def remember(desk: Desk, entries: Sequence[NewLedgerEntry]) -> list[LedgerEntry]:
    written = await desk.remember(entries)
    await embed_missing(desk.store, Hash768())
    return written


def busy(desk: Desk, count: int) -> list[NewLedgerEntry]:
    """Recent, important, here, with those present: all that structure likes."""
    deeds = ("drank ale", "told a joke", "mended a net", "lost at dice", "sang badly", "ate a pie", "slept by the fire")
    return [
        desk.inn.memory(f"{{{{e:en_sailor}}}} {deeds[n % 7]} for the {n}th time.", 40 - n / 10, who=("en_sailor",), importance=8)
        for n in range(count)
    ]


async def test_an_old_fitting_memory_is_found_behind_a_busy_place(desk: Desk) -> None:
    needle, *_ = await remember(desk, [desk.inn.memory(NEEDLE, 9000, place="pl_quay", importance=2), *busy(desk, 300)])
    found = await recall(desk, engine(desk), "What became of that silver compass?")
    assert found.entries[0] == needle
    assert len(found.entries) <= 12
    assert found.problems == ()


async def test_without_any_cue_something_comes_to_mind(desk: Desk) -> None:
    await remember(desk, [desk.inn.memory(f"A storm took {n} boats.", 500 + n, place=None) for n in range(5)])
    nowhere = desk.inn.moved(desk.world, "en_bryn", "pl_cellar")
    found = await engine(desk).recall(nowhere, "en_bryn", [], desk.world.now, query="zzz")
    assert len(found.entries) == 5


async def test_an_empty_ledger_gives_nothing_and_asks_no_embedder(desk: Desk, wire: Any) -> None:
    quiet = RecallEngine(desk.store, wire.broken("error"), Policies())
    found = await recall(desk, quiet, "Hello")
    assert (found.entries, found.problems) == ((), ())
    assert "Hello" in found.query


async def test_nobody_remembers_what_is_anothers(desk: Desk) -> None:
    theirs = desk.inn.memory(NEEDLE, 90, owner="en_monk", who=("en_stranger",), importance=10)
    mine = desk.inn.memory("{{e:en_stranger}} paid for a bed.", 80, who=("en_stranger",))
    await desk.remember([theirs])
    await remember(desk, [mine])
    found = await recall(desk, engine(desk), "Where is the silver compass?")
    assert [entry.owner_id for entry in found.entries] == ["en_bryn"]


async def test_entries_without_vectors_are_found_by_words_and_embedded_later(desk: Desk) -> None:
    needle, *_ = await desk.remember([desk.inn.memory(NEEDLE, 9000, place="pl_quay"), *busy(desk, 150)])
    standing = engine(desk)
    found = await recall(desk, standing, "What became of that silver compass?")
    assert found.entries[0] == needle
    assert all(receipt.cosine == 0 for receipt in found.receipts)
    assert await embed_missing(desk.store, Hash768()) == 151
    assert await embed_missing(desk.store, Hash768()) == 0
    found = await recall(desk, standing, "What became of that silver compass?")
    assert found.receipts[0].cosine > 0
    assert found == await recall(desk, engine(desk), "What became of that silver compass?")


async def test_an_entry_rewritten_while_it_is_embedded_gets_no_stale_vector(desk: Desk) -> None:
    [entry] = await desk.remember([desk.inn.memory("A pig flew.", 5)])

    class Slow(Hash768):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            new = desk.inn.memory("A cow flew.", 5)
            await desk.store.db.write(lambda conn: desk.store.ledger.rewrite(conn, entry.id, new, (), "A cow flew."))
            return await super().embed(texts)

    assert await embed_missing(desk.store, Slow()) == 0
    assert await desk.store.db.read(lambda conn: desk.store.embeddings.missing(conn, "en_bryn", "hash768")) == [entry.id]


@pytest.mark.parametrize("spoil", ["error", "nan", "narrow"])
async def test_a_failing_embedder_costs_meaning_and_says_so(desk: Desk, wire: Any, spoil: str) -> None:
    needle, *_ = await remember(desk, [desk.inn.memory(NEEDLE, 9000), *busy(desk, 30)])
    found = await recall(desk, RecallEngine(desk.store, wire.broken(spoil), Policies()), "That silver compass?")
    assert found.entries[0] == needle
    assert len(found.problems) == 1


async def test_a_save_that_cannot_be_read_costs_memories_and_says_so(desk: Desk) -> None:
    await remember(desk, busy(desk, 3))
    await desk.store.close()
    found = await recall(desk, engine(desk), "Well?")
    assert found.entries == ()
    assert "could not be read" in found.problems[0]


async def test_the_section_limit_and_the_budget_hold(desk: Desk) -> None:
    await remember(desk, busy(desk, 60))
    assert len((await recall(desk, engine(desk), "ale")).entries) == 12
    assert len((await recall(desk, engine(desk, section_limit=5), "ale")).entries) == 5
    found = await recall(desk, engine(desk), "ale", budget=60)
    used = sum(receipt.tokens for receipt in found.receipts if receipt.chosen)
    assert 0 < used <= 60
    assert any("no room" in receipt.reason for receipt in found.receipts)


async def test_receipts_add_up_and_name_what_just_missed(desk: Desk) -> None:
    await remember(desk, busy(desk, 60))
    found = await recall(desk, engine(desk), "ale and pie")
    chosen = [receipt for receipt in found.receipts if receipt.chosen]
    missed = [receipt for receipt in found.receipts if not receipt.chosen]
    assert [receipt.source for receipt in chosen] == [entry.id for entry in found.entries]
    assert len({receipt.source for receipt in missed}) == 5
    for receipt in found.receipts:
        parts = receipt.recency + receipt.importance + receipt.cosine + receipt.words + receipt.involved + receipt.smoothed
        assert receipt.score == pytest.approx(parts)
        assert receipt.reason
        assert "en_" not in receipt.text
        assert "{{" not in receipt.text
    assert chosen[0].reason == "ranked 1"
    assert chosen[0].text.startswith("Tom Reed ")
    assert chosen[0].score >= missed[0].score


async def test_whom_a_memory_involves_is_matched_by_id(desk: Desk) -> None:
    about = desk.inn.memory("They quarrelled over the price of salt.", 500, who=("en_stranger",))
    other = desk.inn.memory("They quarrelled over the price of hemp.", 500, who=("en_smith",))
    await remember(desk, [other, about])
    world = desk.world
    for entity in ("en_sailor", "en_monk", "en_smith"):
        world = desk.inn.moved(world, entity, "pl_quay")
    found = await engine(desk).recall(world, "en_bryn", [], world.now)
    assert found.focus == ("en_stranger",)
    assert found.entries[0].content == about.content


async def test_a_question_that_only_names_somebody_finds_what_involves_them(desk: Desk) -> None:
    old = [desk.inn.memory(f"A rope was cut, a plank was laid: {n}.", 9000 - n, place="pl_quay", who=("en_sailor",)) for n in range(40)]
    new = [desk.inn.memory(f"The wet stranger paid {n} crowns.", 50 - n / 10, who=("en_stranger",), importance=5) for n in range(300)]
    await remember(desk, [*old, *new])
    found = await recall(desk, engine(desk), "The wet stranger paid.", query="What of Tom Reed?")
    assert found.focus == ("en_sailor",)
    direct = {one.source for one in found.receipts if one.chosen and one.reason != "next to the best"}
    assert {entry.involved_entity_ids for entry in found.entries if entry.id in direct} == {("en_sailor",)}
    assert len(direct) >= 9


async def test_a_question_is_not_asked_about_here_and_now(desk: Desk) -> None:
    needle, *_ = await remember(desk, [desk.inn.memory(NEEDLE, 9000, place="pl_quay", importance=2), *busy(desk, 300)])
    found = await recall(desk, engine(desk), "Tom Reed drinks.", query="Where did somebody bury a silver compass?")
    assert found.entries[0] == needle
    assert not any("place" in one.found_by for one in found.candidates)
    assert found.focus[0] == "en_stranger"  # nobody is named: whom the scene has in focus counts


async def test_neighbours_of_the_best_come_along_behind_what_was_ranked(desk: Desk) -> None:
    day = 24.0 * 300
    before = desk.inn.memory("Fog lay on the water at dawn.", day + 1, place="pl_quay", importance=1)
    needle = desk.inn.memory(NEEDLE, day, place="pl_quay", importance=1)
    after = desk.inn.memory("The bell rang noon.", day - 1, place="pl_bar", importance=1)
    await remember(desk, [before, needle, after, *busy(desk, 200)])
    found = await recall(desk, engine(desk, pool=30), "What became of that silver compass?")
    assert found.entries[0].content == NEEDLE
    told = {receipt.text: receipt.reason for receipt in found.receipts}
    assert told["The bell rang noon."] == "next to the best"
    short = await recall(desk, engine(desk, pool=30), "What became of that silver compass?", budget=900)
    assert all(receipt.reason != "next to the best" for receipt in short.receipts)


async def test_of_memories_that_tell_the_same_the_richer_is_kept(desk: Desk) -> None:
    twice = [desk.inn.memory("{{e:en_sailor}} cheated at cards.", 50 - n, who=("en_sailor",)) for n in range(3)]
    rich = desk.inn.memory("{{e:en_sailor}} cheated at cards.", 60, who=("en_sailor",), quotes=["Cards, cheated!"])
    denied = desk.inn.memory("{{e:en_sailor}} never cheated at cards.", 55, who=("en_sailor",))
    other = desk.inn.memory("{{e:en_monk}} cheated at cards.", 50, who=("en_monk",))
    await remember(desk, [*twice, rich, denied, other])
    found = await recall(desk, engine(desk), "Cheated at cards?")
    contents = [entry.content for entry in found.entries]
    assert sorted(contents) == sorted([rich.content, denied.content, other.content])
    assert [entry.quotes for entry in found.entries if entry.content == rich.content] == [("Cards, cheated!",)]
    assert sum(receipt.reason == "tells the same as another" for receipt in found.receipts) == 3


async def test_repeats_do_not_take_the_room_of_others(desk: Desk) -> None:
    again = [desk.inn.memory("{{e:en_sailor}} cheated at cards.", 50 - n / 10, who=("en_sailor",), importance=9) for n in range(60)]
    deeds = ("sang", "swam", "slept", "sailed", "spat", "swore", "stole", "snored", "smiled", "shaved", "stumbled", "shouted")
    await remember(desk, [*again, *(desk.inn.memory(f"{{{{e:en_sailor}}}} {deed}.", 900, who=("en_sailor",)) for deed in deeds)])
    found = await recall(desk, engine(desk), "Cheated at cards?")
    assert len({entry.content for entry in found.entries}) == len(found.entries) == 12


async def test_numbers_and_negations_tell_memories_apart(desk: Desk) -> None:
    tale = "{{e:en_sailor}} did%s pay the harbour master three silver crowns for mending the old net by lantern light in winter."
    await remember(desk, [desk.inn.memory(tale % word, 50, who=("en_sailor",)) for word in ("", " not")])
    ids, blobs = await desk.store.db.read(lambda conn: desk.store.embeddings.of_owner(conn, "en_bryn", "hash768"))
    a, b = (np.frombuffer(blob, dtype="<f4") for blob in blobs)
    assert float(a @ b) > Hash768().same
    assert len((await recall(desk, engine(desk), "crowns")).entries) == len(ids) == 2


async def test_entries_of_the_same_sources_are_one_memory(desk: Desk) -> None:
    events = await desk.fill(desk.inn.talk(2))
    keys = [event.id for event in events]
    add = desk.store.ledger.add
    for content in ("{{e:en_sailor}} lost his boat.", "A wave took everything that {{e:en_sailor}} had."):
        new = desk.inn.memory(content, 9, who=("en_sailor",))
        await desk.store.db.write(lambda conn, new=new: add(conn, new, keys, new.content))  # type: ignore[misc]
    found = await recall(desk, engine(desk), "boat")
    assert [entry.content for entry in found.entries] == ["A wave took everything that {{e:en_sailor}} had."]


@pytest.mark.parametrize("text", ['" OR owner:x', "NEAR(a b)", "\x00", "'; DROP TABLE ledger_entries; --", "*", "🦭 " * 50, "a" * 5000])
async def test_hostile_words_do_no_harm(desk: Desk, text: str) -> None:
    await remember(desk, busy(desk, 3))
    found = await recall(desk, engine(desk), text, query=text)
    assert len(found.entries) == 3
    assert found.problems == ()


async def test_a_warm_recall_reads_no_vector_and_no_recall_writes(desk: Desk) -> None:
    await remember(desk, busy(desk, 50))
    standing, statements = engine(desk), list[str]()
    await recall(desk, standing, "ale")
    before = await desk.rows()

    def trace(conn: sqlite3.Connection) -> None:
        conn.set_trace_callback(statements.append)

    await desk.store.db.read(trace)
    await recall(desk, standing, "pie")
    await desk.store.db.read(lambda conn: conn.set_trace_callback(None))
    assert statements
    assert not any("vector" in statement for statement in statements)
    assert not any(statement.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")) for statement in statements)
    assert await desk.rows() == before


async def test_what_a_handoff_adds_and_rewrites_is_known_to_the_next_recall(desk: Desk, wire: Any) -> None:
    await remember(desk, busy(desk, 20))
    standing = engine(desk)
    await recall(desk, standing, "A compass?")
    await desk.fill(desk.inn.talk(12, oldest=300, newest=280))
    desk.world = desk.inn.moved(desk.world, "en_bryn", "pl_quay")
    handoff = desk.engine(
        wire.reply(wire.chunk(["M1"], "P2 buried a silver compass.", retainInBuffer=True)),
        "{}", "{}",
        wire.reply(wire.chunk(["M1"], "P2 dug up a golden trumpet.", retainInBuffer=True, importance=10),
                   wire.chunk(["M2"], "A gull stole bread.")),
    )  # fmt: skip
    await handoff.run_all(desk.world)
    found = await recall(desk, standing, "A silver compass?")
    assert "silver compass" in found.entries[0].content
    await desk.fill(desk.inn.talk(6, oldest=279, newest=270))
    await handoff.run_all(desk.world)
    await handoff.run_all(desk.world)
    for question in ("A golden trumpet?", "A silver compass?", "A gull?"):
        found = await recall(desk, standing, question)
        assert found == await recall(desk, engine(desk), question)
        assert not any("compass" in entry.content for entry in found.entries)
    assert "trumpet" in (await recall(desk, standing, "A golden trumpet?")).entries[0].content


async def test_the_same_question_gives_the_same_answer(desk: Desk) -> None:
    await remember(desk, busy(desk, 120))
    standing = engine(desk)
    first = await recall(desk, standing, "ale and pie")
    assert first == await recall(desk, standing, "ale and pie")
    assert first == await recall(desk, engine(desk), "ale and pie")


async def test_a_forgotten_matrix_is_read_anew(desk: Desk) -> None:
    [entry] = await remember(desk, [desk.inn.memory("A pig flew.", 5)])
    standing = engine(desk)
    await recall(desk, standing, "pig")
    later = desk.inn.memory("A pig flew.", 5).model_copy(update={"importance": 9, "timestamp": desk.inn.now - timedelta(hours=1)})
    await desk.store.db.write(lambda conn: desk.store.ledger.rewrite(conn, entry.id, later, (), "A pig flew."))
    standing.forget("en_bryn")
    found = await recall(desk, standing, "pig")
    assert found.receipts[0].importance == pytest.approx(0.09)


async def test_a_small_matrix_budget_changes_no_answer(desk: Desk) -> None:
    await remember(desk, busy(desk, 40))
    await desk.remember([desk.inn.memory("{{e:en_bryn}} sang.", 5, owner="en_monk")])
    tight = RecallEngine(desk.store, Hash768(), Policies(), budget_bytes=1)
    for _ in range(2):
        assert await recall(desk, tight, "ale") == await recall(desk, engine(desk), "ale")
        await tight.recall(desk.world, "en_monk", [], desk.world.now)
