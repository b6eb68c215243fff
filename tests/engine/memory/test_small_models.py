"""A handoff by a small model: it chooses in one call, tells in another, and is held to what everybody else is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import HandoffError, ModelError
from engine.llm.router import Router
from engine.llm.scripted import Reply, Scripted
from engine.llm.tokens import estimate_tokens
from engine.memory.closing import choose_reply, tell_reply
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.handoff.slicing import first_slice
from engine.prompts.halves import REASONS, most_groups, tell_prompt
from engine.prompts.handoff import people_of
from engine.prompts.templates import built_in
from engine.records.limits import room
from engine.records.memory import HandoffRun
from engine.records.policies import HandoffPolicy, Policies
from engine.records.prompts import split_sections
from engine.records.templates import Template
from engine.records.tokens import token
from engine.records.wire import ChooseReply, TellReply

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

BRYN, STRANGER = token("en_bryn"), token("en_stranger")
ROOM = "Have you a room? The harbour master is after me."


def chosen(*groups: Sequence[str], importance: int = 5, retain: bool = False) -> str:
    """A reply to the first call."""
    wire = [{"reason": "news", "sourceEntryIds": list(group), "importance": importance, "retainInBuffer": retain} for group in groups]
    return json.dumps({"groups": wire})


def told(*contents: str, quotes: Sequence[str] = (), names: Sequence[str] = ("G1", "G2", "G3", "G4", "G5")) -> str:
    """A reply to the second."""
    wire = [
        {"group": name, "involvedEntityIds": ["P2"], "quotes": list(quotes), "content": content}
        for name, content in zip(names, contents, strict=False)
    ]
    return json.dumps({"told": wire})


def small(desk: Desk, *replies: Reply, policy: HandoffPolicy | None = None, window: int = 8192) -> tuple[HandoffEngine, Scripted]:
    model = Scripted(replies, small=True, context_window=window)
    policies = Policies(handoff=policy or HandoffPolicy())
    return HandoffEngine(desk.store, Router(model), desk.embedder, policies, desk.events.append), model


async def only_run(desk: Desk, *replies: Reply) -> tuple[HandoffRun, Scripted]:
    await desk.old_pool()
    engine, model = small(desk, *replies)
    [run] = await engine.run_all(desk.world)
    return run, model


async def test_first_it_chooses_then_it_tells_only_what_it_has_chosen(desk: Desk) -> None:
    run, model = await only_run(
        desk, chosen(["M1", "M2"], ["M3"], importance=7), told("P2 asked P1 for a room.", "P1 thought that P2 was running.", quotes=[ROOM]),
    )  # fmt: skip
    first, second = model.requests
    assert [line[:2] for line in split_sections(first.messages[-1].content)["MOMENTS"].splitlines()] == ["M1", "M2", "M3", "M4"]
    groups = split_sections(second.messages[-1].content)["GROUPS"].splitlines()
    assert [line.split()[0] for line in groups] == ["G1", "[said]", "[done]", "G2", "[thought]"]
    assert "wiped the counter" not in second.text
    assert (first.template, second.template, run.template) == ("choose.1", "tell.1", "choose.1+tell.1")
    assert run.prompt == f"{first.text}\n\n{second.text}"
    assert json.loads(run.reply.split("\n\n")[0])["groups"]
    assert json.loads(run.reply.split("\n\n")[1])["told"]
    assert (run.status, run.added, run.promoted, run.forgotten) == ("committed", 2, 3, 1)
    kept = await desk.ledger()
    assert [(entry.content, entry.quotes, entry.importance) for entry in kept] == [
        (f"{STRANGER} asked {BRYN} for a room.", (ROOM,), 7), (f"{BRYN} thought that {STRANGER} was running.", (), 7),
    ]  # fmt: skip
    assert run.notes == (f"chunk 2: nobody said {ROOM!r} in its sources",)


async def test_both_calls_say_what_may_stand_in_their_replies(desk: Desk) -> None:
    _, model = await only_run(desk, chosen(["M1"], ["M3"]), told("P2 asked P1 for a room.", "P1 thought that P2 was running."))
    first, second = model.requests
    assert first.choices == {"reason": REASONS, "sourceEntryIds": ("M1", "M2", "M3", "M4")}
    assert second.choices == {"group": ("G1", "G2"), "involvedEntityIds": ("P1", "P2"), "quotes": (ROOM,)}
    for request in (first, second):
        assert request.response is not None
        assert room(request.response, request.choices, estimate_tokens) <= request.max_tokens


async def test_groups_are_told_by_their_handles_in_any_order(desk: Desk) -> None:
    await only_run(
        desk, chosen(["M1"], ["M3"]), told("P1 thought that P2 was running.", "P2 asked P1 for a room.", names=["[g2]", "the first"]),
    )  # fmt: skip
    assert [entry.content for entry in await desk.ledger()] == [f"{BRYN} thought that {STRANGER} was running."]
    assert {entry.id for entry in await desk.buffer()} >= {"buf-000001"}, "what is told of no group stays undecided"


async def test_what_names_no_group_is_taken_by_its_place(desk: Desk) -> None:
    await only_run(desk, chosen(["M1"], ["M3"]), told("P2 asked P1 for a room.", "P1 thought that P2 was running.", names=["1", "2"]))
    assert [entry.content for entry in await desk.ledger()] == [
        f"{STRANGER} asked {BRYN} for a room.", f"{BRYN} thought that {STRANGER} was running.",
    ]  # fmt: skip


async def test_a_moment_is_in_the_first_group_that_has_it(desk: Desk) -> None:
    run, model = await only_run(
        desk, chosen(["M1", "M2"], ["M2"], ["M2", "M3", "M9"]), told("P2 asked P1 for a room.", "P1 thought that P2 was running.")
    )  # fmt: skip
    assert split_sections(model.requests[1].text)["GROUPS"].count("set a mug") == 1
    assert run.notes == (
        "group 2 has no moments but those of groups before it", "chunk 2: source 'M9' is not a candidate",
    )  # fmt: skip
    assert [await desk.sources(entry.id) for entry in await desk.ledger()] == [("buf-000001", "buf-000002"), ("buf-000003",)]


async def test_more_groups_than_it_may_make_stay_undecided(desk: Desk) -> None:
    run, model = await only_run(
        desk, chosen(["M1"], ["M2"], ["M3"], ["M4"]), told("P2 asked P1 for a room.", "P1 gave P2 a mug.", "P1 thought.", "P1 wiped."),
    )  # fmt: skip
    assert "G3" not in split_sections(model.requests[1].messages[-1].content)["GROUPS"]
    assert (run.promoted, run.forgotten) == (2, 0)
    assert {"buf-000003", "buf-000004"} <= {entry.id for entry in await desk.buffer()}


@pytest.mark.parametrize("content", [*built_in("tell").parts[0].splitlines(), *built_in("choose").parts[0].splitlines()])
async def test_what_is_copied_from_either_prompt_is_no_memory(desk: Desk, content: str) -> None:
    if len(content) < 20:
        return
    run, _ = await only_run(desk, chosen(["M1"]), told(content))
    assert run.status == "failed"
    assert await desk.ledger() == []


async def test_the_form_filled_with_nothing_is_no_memory(desk: Desk) -> None:
    forms = [built_in(kind).parts[0].splitlines()[-1] for kind in ("choose", "tell")]
    run, model = await only_run(desk, *forms)
    assert len(model.requests) == 2, "the forms have the shape that is asked for"
    assert (run.status, await desk.ledger()) == ("failed", [])


@pytest.mark.parametrize("groups", [[], [["M9"]], [[]], [["P1"], ["buf-000001"]]])
async def test_a_choice_of_nothing_fails_without_a_second_call(desk: Desk, groups: list[list[str]]) -> None:
    run, model = await only_run(desk, chosen(*groups))
    assert len(model.requests) == 1
    assert (run.status, run.template) == ("failed", "choose.1")
    assert run.reply == chosen(*groups)
    assert (len(await desk.buffer()), await desk.ledger()) == (12, [])


@pytest.mark.parametrize("last", ["I cannot do that.", '{"told": [{"group": "G1"', ModelError("The model is gone.")])
async def test_when_the_second_call_fails_nothing_is_written_and_the_run_has_both(desk: Desk, last: Reply) -> None:
    run, model = await only_run(desk, chosen(["M1"]), last, last)
    assert run.status == "failed"
    assert run.template == "choose.1+tell.1"
    assert model.requests[1].text in run.prompt
    assert run.reply.startswith(chosen(["M1"]))
    assert isinstance(last, ModelError) or run.reply.endswith(str(last))
    assert await desk.ledger() == []
    assert len(await desk.buffer()) == 12


async def test_a_pinned_thread_stays_one_memory(desk: Desk) -> None:
    await desk.old_pool()
    engine, model = small(
        desk, chosen(["M1"], retain=True), told("P2 was hunted by the harbour master."), chosen(["M1"]), told("P2 was safe at last."),
    )  # fmt: skip
    await engine.run_all(desk.world)
    await desk.fill(desk.inn.talk(5, oldest=279, newest=270))
    await engine.run_all(desk.world)
    assert "[said, pinned]" in split_sections(model.requests[2].text)["MOMENTS"]
    [entry] = await desk.ledger()
    assert "safe at last" in entry.content
    assert (await desk.whereabouts())["buf-000001"] == ["promoted"]


async def test_a_part_that_is_asked_for_anew_takes_two_calls_too(desk: Desk, wire: Any) -> None:
    await desk.old_pool()
    engine, model = small(
        desk, chosen(["M1", "M2"], ["M3"]), told("P2 asked P1 for a room.", "P1 thought that P2 was running."),
        chosen(["M2"], ["M1"]), told("P1 set a mug before P2.", "P2 wanted a bed."), policy=HandoffPolicy(review="ask"),
    )  # fmt: skip
    assert await engine.run_all(desk.world) == ()
    pending = await engine.review.reroll(desk.world, "en_bryn", 0)
    assert [chunk.content for chunk in pending.proposal.chunks] == [
        f"{BRYN} set a mug before {STRANGER}.", f"{BRYN} thought that {STRANGER} was running.",
    ]  # fmt: skip
    assert [request.template for request in model.requests] == ["choose.1", "tell.1"] * 2
    assert model.requests[2].seed == model.requests[3].seed != model.requests[0].seed
    await wire.judged(engine, "accepted", "accepted")
    run = await engine.review.finish(desk.world, "en_bryn")
    assert (run.status, run.template) == ("committed", "choose.1+tell.1")
    assert all(request.text in run.prompt for request in model.requests)


async def test_a_world_may_replace_either_half(desk: Desk) -> None:
    own = {"choose": Template(name="choose.own", parts=("Choose.",)), "tell": Template(name="tell.own", parts=("Tell.",))}
    await desk.old_pool()
    engine, model = small(desk, chosen(["M1"]), told("P2 asked P1 for a room."))
    [run] = await engine.run_all(desk.world.model_copy(update={"templates": own}))
    assert run.template == "choose.own+tell.own"
    assert [request.messages[0].content for request in model.requests] == ["Choose.", "Tell."]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 300), min_size=1, max_size=24), st.integers(1300, 9000))
def test_both_calls_fit_the_window_whatever_is_chosen(inn: Inn, sizes: list[int], window: int) -> None:
    world, model = inn.world(), Scripted(small=True, context_window=window)
    entries = inn.numbered([inn.said("tale " * size + "end.", 400 - n) for n, size in enumerate(sizes)])
    try:
        piece = first_slice(world, "en_bryn", entries, model)
    except HandoffError:
        return
    count, kept = most_groups(len(piece.candidates)), list(piece.candidates)
    report = piece.prompt.report
    assert report.tokens + report.reserved <= window
    choose = choose_reply(kept, piece.handles, model.count_tokens, report.reserved)
    assert issubclass(choose.shape, ChooseReply)
    assert choose.max_tokens == report.reserved
    for groups in ([kept], [*([one] for one in kept[: count - 1]), kept[count - 1 :]]):
        prompt = tell_prompt(world, "en_bryn", groups, piece.handles, world.now, count_tokens=model.count_tokens, context_window=window)
        assert prompt.report.tokens + prompt.report.reserved <= window
        people = people_of("en_bryn", kept)
        tell = tell_reply(groups, map(piece.handles.of, people), model.count_tokens, prompt.report.reserved)
        assert issubclass(tell.shape, TellReply)
        assert tell.max_tokens == prompt.report.reserved
