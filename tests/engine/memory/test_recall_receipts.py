"""Receipts: the whole pool in figures, what went in, what just missed, and what the prompt itself cut."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from engine.llm.hashing import Hash768
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import embed_missing
from engine.records.policies import Policies, RecallPolicy
from engine.records.prompts import Candidate, Prompt, Receipt, Recollection
from engine.turns.actor import Actor

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk

NEEDLE = "{{e:en_stranger}} buried a silver compass under the third plank of the jetty."
PARTS = ("recency", "importance", "cosine", "words", "involved", "smoothed")


async def filled(desk: Desk, count: int = 150) -> None:
    day = 24.0 * 300
    old = [
        desk.inn.memory("Fog lay on the water at dawn.", day + 1, place="pl_quay", importance=1),
        desk.inn.memory(NEEDLE, day, place="pl_quay", importance=2),
        desk.inn.memory("The bell rang noon.", day - 1, place="pl_bar", importance=1),
        desk.inn.memory("The harbour burned.", day - 50, place="pl_quay", importance=10),
    ]
    deeds = ("drank ale", "told a joke", "mended a net", "lost at dice", "sang badly", "ate a pie", "slept by the fire")
    new = [
        desk.inn.memory(f"{{{{e:en_sailor}}}} {deeds[n % 7]} for the {n}th time.", 900 - n, who=("en_sailor",), importance=3, place=None)
        for n in range(count)
    ]
    await desk.remember([*old, *new])
    await embed_missing(desk.store, Hash768())


async def recall(desk: Desk, said: str, policy: RecallPolicy | None = None, **more: Any) -> Recollection:
    engine = RecallEngine(desk.store, Hash768(), Policies(recall=policy or RecallPolicy()))
    return await engine.recall(desk.world, "en_bryn", desk.inn.numbered([desk.inn.said(said, 1)]), desk.world.now, **more)


def adds_up(one: Receipt | Candidate) -> bool:
    return one.score == pytest.approx(sum(getattr(one, part) for part in PARTS))


async def test_every_candidate_is_given_with_its_parts(desk: Desk) -> None:
    await filled(desk)
    found = await recall(desk, "What became of that silver compass?")
    pool = [one for one in found.candidates if one.rank]
    assert [one.rank for one in pool] == list(range(1, 101))
    assert all(a.score >= b.score for a, b in pairwise(pool))
    assert all(adds_up(one) and one.found_by for one in found.candidates)
    assert {one.source for one in found.candidates if one.chosen} == {entry.id for entry in found.entries}
    by_id = {one.source: one for one in found.candidates}
    for receipt in found.receipts:
        assert adds_up(receipt)
        same = by_id[receipt.source]
        assert [getattr(receipt, name) for name in ("score", "rank", "chosen", *PARTS)] == [
            getattr(same, name) for name in ("score", "rank", "chosen", *PARTS)
        ]


async def test_each_way_into_the_pool_is_named(desk: Desk) -> None:
    await filled(desk)
    found = await recall(desk, "What became of that silver compass? Have an ale, Tom Reed!", RecallPolicy(pool=160))
    ways = {one.source: one.found_by for one in found.candidates}
    told = {entry.content: entry.id for entry in await desk.ledger()}
    assert ways[told["The bell rang noon."]][0] == "place"
    assert "grave" in ways[told["The harbour burned."]]
    assert {"words", "meaning"} <= set(ways[told[NEEDLE]])
    assert any("people" in way for way in ways.values())
    assert set().union(*ways.values()) <= {"place", "people", "grave", "words", "meaning", "newest", "chain"}


async def test_what_only_stands_next_to_the_best_has_no_rank(desk: Desk) -> None:
    await filled(desk)
    found = await recall(desk, "What became of that silver compass?", RecallPolicy(pool=12, section_limit=12))
    beside = [one for one in found.receipts if one.reason == "next to the best" and one.rank == 0]
    assert beside
    assert all((one.score, one.found_by) == (0.0, ("chain",)) for one in beside)
    assert {one.source for one in beside} <= {one.source for one in found.candidates}


async def test_without_cue_word_and_vector_the_newest_are_looked_at(desk: Desk) -> None:
    await desk.remember([desk.inn.memory(f"It rained {n}.", 50 + n, place=None) for n in range(5)])
    engine = RecallEngine(desk.store, Hash768(), Policies())
    found = await engine.recall(desk.world, "en_bryn", [], desk.world.now, query="?")
    assert {one.found_by for one in found.candidates} == {("newest",)}
    assert len(found.entries) == 5


async def test_the_five_that_just_missed_say_why_and_what_they_cost(desk: Desk) -> None:
    await filled(desk)
    found = await recall(desk, "ale")
    missed = [one for one in found.receipts if not one.chosen]
    assert len(missed) == 5
    reasons = {one.rank: one.reason for one in missed}
    assert all(reasons[rank] == f"ranked {rank}, limit 12" for rank in reasons if rank > 12)
    assert all(reasons[rank].startswith(f"ranked {rank}: ") for rank in reasons if rank <= 12)
    assert all(one.tokens > 0 and one.text for one in missed)
    tight = await recall(desk, "ale", budget=50)
    assert any(one.reason.startswith("no room for its ") for one in tight.receipts if not one.chosen)


class Speaking:
    """Drafts of Bryn's prompt in a window of some size, with the buffer as it is."""

    def __init__(self, desk: Desk, window: int) -> None:
        router = Router(Scripted(context_window=window))
        self._actor = Actor(desk.store, router, RecallEngine(desk.store, Hash768(), Policies()), Policies())
        self._desk = desk

    async def draft(self, explained: bool = True) -> Prompt:
        return await self._actor.draft(self._desk.world, "en_bryn", explained=explained)


@pytest.mark.parametrize("window", [600, 800, 1000, 1200, 1600, 2400, 4096, 8192])
async def test_what_receipts_call_chosen_is_what_the_prompt_holds(desk: Desk, window: int) -> None:
    await filled(desk)
    await desk.fill([*desk.inn.talk(14), desk.inn.said("What became of that silver compass?", 1)])
    prompt = await Speaking(desk, window).draft()
    [memories] = [section for section in prompt.sections if section.key == "memories"]
    report = prompt.report
    assert {one.source for one in report.receipts if one.chosen and one.tier == "ledger"} == set(memories.sources)
    assert {one.source for one in report.candidates if one.chosen} == set(memories.sources)
    assert all(one.reason for one in report.receipts)
    assert (report.query, report.focus) != ("", ())
    lost = {cut.source for cut in report.cuts if cut.section == "memories"}
    assert all(one.reason == "no room in the share for memories" for one in report.receipts if one.source in lost)


@pytest.mark.parametrize("window", [600, 1000, 4096, 8192])
async def test_a_prompt_that_nobody_looks_at_is_the_same_without_receipts(desk: Desk, window: int) -> None:
    await filled(desk)
    await desk.fill([*desk.inn.talk(14), desk.inn.said("What became of that silver compass?", 1)])
    speaking = Speaking(desk, window)
    seen, unseen = await speaking.draft(), await speaking.draft(explained=False)
    assert (unseen.report.receipts, unseen.report.candidates) == ((), ())
    assert seen.report.receipts
    assert seen.report.candidates
    unlooked = seen.report.model_copy(update={"receipts": (), "candidates": ()})
    assert unseen == seen.model_copy(update={"report": unlooked})


async def test_memories_stand_in_order_of_time_whatever_their_rank(desk: Desk) -> None:
    await filled(desk)
    await desk.fill([desk.inn.said("What became of that silver compass?", 1)])
    prompt = await Speaking(desk, 8192).draft()
    [memories] = [section for section in prompt.sections if section.key == "memories"]
    entries = {entry.id: entry for entry in await desk.ledger()}
    words = {key: entries[key].content.replace("{{e:en_sailor}} ", "").replace("{{e:en_stranger}} ", "") for key in memories.sources}
    shown = sorted(memories.sources, key=lambda key: memories.text.index(words[key]))
    times = [entries[key].timestamp for key in shown]
    assert times == sorted(times)
    assert len(set(times)) > 5
    best = next(one for one in prompt.report.receipts if one.rank == 1)
    assert entries[best.source].content == NEEDLE
    assert shown != [one.source for one in prompt.report.receipts if one.chosen]


async def test_a_preview_and_a_question_change_nothing_and_count_nothing(desk: Desk) -> None:
    await filled(desk)
    await desk.fill([desk.inn.said("What became of that silver compass?", 1)])
    rows = await desk.rows()
    first = await Speaking(desk, 8192).draft()
    await recall(desk, "x", query="silver compass")
    assert first == await Speaking(desk, 8192).draft()
    assert await desk.rows() == rows
    assert await desk.store.db.read(lambda conn: conn.execute("SELECT count(*) FROM ledger_use").fetchone()) == (0,)


async def test_a_failed_tier_is_in_the_report_and_not_in_the_prompt(desk: Desk, wire: Any) -> None:
    await filled(desk)
    await desk.fill([desk.inn.said("What became of that silver compass?", 1)])
    actor = Actor(desk.store, Router(Scripted()), RecallEngine(desk.store, wire.broken("error"), Policies()), Policies())
    for explained in (True, False):
        prompt = await actor.draft(desk.world, "en_bryn", explained=explained)
        assert prompt.report.problems == ("Memories were not compared by meaning: The embedder is gone.",)
        assert "embedder" not in prompt.text
        assert "silver compass under" in prompt.text
