"""Proposals that wait for a person: asked about in play, decided on the Review screen, kept over a restart."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from engine.files.bundled import WorldInfo
from tests.tui.keys import keys, opening
from tui.app import OthermindsApp
from tui.glyphs import REFUSED
from tui.host import GameHost
from tui.screens.play import PlayScreen
from tui.screens.review import ReviewScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])


@pytest.fixture
def asked(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle) -> Open:
    """A game in which handoffs ask, with one proposal of two memories waiting."""

    return opening(host, worlds, settle, "d", "V", "n", "n")


@SIZES
async def test_a_proposal_that_waits_is_said_and_marked(asked: Open, settle: Settle, seen: Seen, games: Any, size: tuple[int, int]) -> None:
    async with asked(size) as pilot:
        text = seen(pilot)
        assert "asks first" in text
        assert "Bryn Harrow: 2 memories wait for your word" in text
        assert ("1 proposal waits v" if size[0] > 80 else "n goes on without it.") in text
        await keys(pilot, settle, "4", "end")
        text = seen(pilot)
        assert text.count("memory 1 waits") == 2
        assert "memory 2 waits" in text
        assert "a proposal waits for your word (v)" in text
        await keys(pilot, settle, "n")
        assert len(games.game.steps) == 3


async def test_rounds_rest_after_the_one_in_which_a_mind_asks(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen, games: Any,
) -> None:
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "V", "R", "enter")
        assert len(games.game.steps) == 2
        assert "n goes on without it." in seen(pilot)
        await keys(pilot, settle, "R", "enter")
        assert len(games.game.steps) == 12
    await host.close()


@SIZES
async def test_each_memory_is_shown_with_all_that_it_would_be(asked: Open, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with asked(size) as pilot:
        await keys(pilot, settle, "v")
        text = seen(pilot)
        assert isinstance(pilot.app.screen, ReviewScreen)
        for part in (
            "[Bryn 0/2]", "Handoff of round 2: 24 entries, limit 20", "memory 1  open", "Mira brought old news.", "“Old news 0.”",
            "with Mira", 'Mira said: "Old news 0."',
            "memory 2  open", "instead of  An older wording.", "its moments stay in mind too", f"{REFUSED} forgotten",
        ):
            assert part in text


async def test_accepting_and_rejecting_goes_on_by_itself(asked: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with asked() as pilot:
        await keys(pilot, settle, "v", "x")
        text = seen(pilot)
        assert "memory 1  rejected" in text
        assert text.count(f"{REFUSED} forgotten") == 5
        assert "1 memory is still open." in text
        await keys(pilot, settle, "enter")
        assert "1 memory is still open: a accepts" in seen(pilot)
        assert games.game.desk.waiting
        await keys(pilot, settle, "a")
        assert "All are decided: enter writes them." in seen(pilot)
        await keys(pilot, settle, "enter")
        assert isinstance(pilot.app.screen, PlayScreen)
        assert games.game.desk.did == ["rejected bryn 0", "accepted bryn 1", "accepted bryn"]
        assert "1 proposal waits" not in seen(pilot)


async def test_all_that_are_open_are_accepted_at_once(asked: Open, settle: Settle, games: Any) -> None:
    async with asked() as pilot:
        await keys(pilot, settle, "v", "x", "A", "enter")
        assert games.game.desk.did == ["rejected bryn 0", "accepted bryn 1", "accepted bryn"]


async def test_a_memory_is_put_into_ones_own_words_and_nothing_typed_is_lost(
    asked: Open, settle: Settle, seen: Seen, games: Any,
) -> None:
    async with asked() as pilot:
        await keys(pilot, settle, "v", "e")
        assert "Memory 1 of Bryn Harrow" in seen(pilot)
        games.game.desk.refuse = "Nobody said that [word]."
        pilot.app.screen.query_one("#memory-text", TextArea).text = "The stranger lied."
        pilot.app.screen.query_one("#importance", Input).value = "11"
        await keys(pilot, settle, "ctrl+s")
        assert "Importance is a number from 1 to 10." in seen(pilot)
        pilot.app.screen.query_one("#importance", Input).value = "9"
        await keys(pilot, settle, "ctrl+s")
        text = seen(pilot)
        assert "Nobody said that [word]. Say it otherwise." in text
        assert "The stranger lied." in text
        games.game.desk.refuse = ""
        await keys(pilot, settle, "ctrl+s")
        text = seen(pilot)
        assert "memory 1  accepted" in text
        assert "The stranger lied." in text
        assert games.game.desk.waiting["bryn"].proposal.chunks[0].importance == 9


async def test_the_model_is_asked_anew_for_one_or_all(asked: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with asked() as pilot:
        await keys(pilot, settle, "v", "a", "r")
        assert "The model has decided anew: 2 memories are open." in seen(pilot)
        await keys(pilot, settle, "R")
        assert games.game.desk.did == ["accepted bryn 0", "reroll bryn 1", "reroll bryn None"]


async def test_the_whole_proposal_is_rejected_after_a_question(asked: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with asked() as pilot:
        await keys(pilot, settle, "v")
        await pilot.press("X")
        await pilot.pause()
        await keys(pilot, settle, "escape")
        assert games.game.desk.waiting
        await pilot.press("X")
        await pilot.pause()
        await keys(pilot, settle, "y")
        assert isinstance(pilot.app.screen, PlayScreen)
        assert not games.game.desk.waiting
        assert "Bryn Harrow: the proposal was rejected. Every moment stays in mind." in seen(pilot)


async def test_leaving_keeps_what_was_said(asked: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with asked() as pilot:
        await keys(pilot, settle, "v", "a", "escape")
        assert isinstance(pilot.app.screen, PlayScreen)
        assert games.game.desk.waiting["bryn"].verdicts == ("accepted", "open")
        await keys(pilot, settle, "v")
        assert "memory 1  accepted" in seen(pilot)


async def test_trouble_is_shown_and_the_proposal_waits_on(asked: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with asked() as pilot:
        games.game.desk.refuse = "The model is away [gone]."
        await keys(pilot, settle, "v", "r")
        assert f"{REFUSED} The model is away [gone]. Say it otherwise." in seen(pilot)
        assert games.game.desk.waiting


async def test_other_minds_that_wait_are_beside(asked: Open, settle: Settle, seen: Seen, games: Any) -> None:
    async with asked() as pilot:
        game = games.game
        game.desk.propose("mira", [entry.model_copy(update={"owner_id": "mira"}) for entry in game._buffers["bryn"][:4]], 3)
        await settle(pilot)
        assert "2 proposals wait v" in seen(pilot)
        await keys(pilot, settle, "v", "right")
        assert "[Mira 0/2]" in seen(pilot)
        await keys(pilot, settle, "A", "enter")
        assert "[Bryn 0/2]" in seen(pilot)
        assert list(game.desk.waiting) == ["bryn"]


async def test_nothing_waits_is_said_with_what_to_do(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen,
) -> None:
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "v")
        assert "Nothing waits for your word. V makes handoffs ask you first." in seen(pilot)
        await keys(pilot, settle, "V", "V")
        assert "Handoffs decide alone again." in seen(pilot)
        assert "asks first" not in seen(pilot)
    await host.close()


@pytest.mark.parametrize("key", ["v", "f"])
async def test_any_size_shows_something(asked: Open, settle: Settle, seen: Seen, key: str) -> None:
    async with asked((200, 50)) as pilot:
        await keys(pilot, settle, key)
        for width, height in [(1, 1), (20, 5), (400, 100), (109, 24), (110, 24), (5, 60), (80, 24)]:
            await pilot.resize_terminal(width, height)
        await settle(pilot)
        assert "Bryn" in seen(pilot)
        await keys(pilot, settle, "down", "escape")
        assert isinstance(pilot.app.screen, PlayScreen)


async def test_every_key_is_in_the_help(asked: Open, settle: Settle, seen: Seen) -> None:
    async with asked((120, 60)) as pilot:
        await keys(pilot, settle, "v", "question_mark")
        text = seen(pilot)
        for part in ("Keep this memory", "your own words", "Ask the model anew for the whole", "Reject the proposal", "Accept all that"):
            assert part in text


async def test_a_proposal_of_the_real_engine_over_a_restart(tmp_path: Path, settle: Settle, seen: Seen) -> None:
    """Toggle review, play until a mind asks, edit one memory, reject one, leave, come back, accept the rest, write them."""
    host = GameHost(tmp_path, speed=0.0)
    app = OthermindsApp(host)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "V", "n")
        assert host.game is not None
        save = host.game.path
        waiting = await host.game.memory.pending()
        pending = next(one for one in waiting if len(one.verdicts) > 2)
        owner = pending.proposal.owner_id
        kept_before = len(await host.game.ledger(owner))
        await keys(pilot, settle, "v")
        while f"of round {pending.round}" not in seen(pilot) or pilot.app.screen._owner != owner:  # type: ignore[attr-defined]
            await keys(pilot, settle, "right")
        await keys(pilot, settle, "x", "e")
        pilot.app.screen.query_one("#memory-text", TextArea).text = "It was all over in a breath."
        await keys(pilot, settle, "ctrl+s", "escape", "q")
    await host.close()

    host = GameHost(tmp_path, speed=0.0)
    app = OthermindsApp(host, start=save)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await settle(pilot)
        assert "wait for your word (v)" in seen(pilot)
        assert "asks first" in seen(pilot)
        assert host.game is not None
        again = await host.game.memory.pending_of(owner)
        assert again is not None
        assert again.verdicts[:3] == ("rejected", "accepted", "open")
        await keys(pilot, settle, "v")
        while pilot.app.screen._owner != owner:  # type: ignore[attr-defined]
            await keys(pilot, settle, "right")
        await keys(pilot, settle, "A", "enter")
        assert await host.game.memory.pending_of(owner) is None
        ledger = await host.game.ledger(owner)
        assert len(ledger) == kept_before + len(again.verdicts) - 1
        assert any(line.text == "It was all over in a breath." for line in ledger)
        [run] = await host.game.runs(owner)
        assert (run.status, run.decision) == ("committed", "accepted")
        part = (await host.game.buffer(owner)).partition
        left = {entry.id for entry in (*part.tail, *part.candidates, *part.held)}
        gone = set(again.proposal.chunks[0].source_ids)
        assert not gone & left
    await host.close()


@SIZES
async def test_all_that_can_be_done_is_in_the_key_list(
    asked: Open, settle: Settle, seen: Seen, games: Any, size: tuple[int, int],
) -> None:
    async with asked(size) as pilot:
        game = games.game
        game.desk.propose("mira", [entry.model_copy(update={"owner_id": "mira"}) for entry in game._buffers["bryn"][:4]], 3)
        await settle(pilot)
        await keys(pilot, settle, "v")
        listed = "\n".join(seen(pilot).splitlines()[-2:])
        for part in ("a Accept", "x Reject", "e Edit", "enter Write", "r Anew", "A Accept all", "R All anew", "X Reject all", "esc Back"):
            assert part in listed


async def test_another_mind_begins_at_its_first_open_memory(asked: Open, settle: Settle, games: Any) -> None:
    async with asked() as pilot:
        game = games.game
        game.desk.propose("mira", [entry.model_copy(update={"owner_id": "mira"}) for entry in game._buffers["bryn"][:4]], 3)
        await game.desk.judge("mira", 0, "accepted")
        await settle(pilot)
        await keys(pilot, settle, "v")
        screen = pilot.app.screen
        assert isinstance(screen, ReviewScreen)
        assert screen.at == 0
        await keys(pilot, settle, "right")
        assert screen.at == 1
        await keys(pilot, settle, "right")
        assert screen.at == 0


@SIZES
async def test_what_stays_as_it_is_comes_last_and_says_so(
    asked: Open, settle: Settle, seen: Seen, games: Any, size: tuple[int, int],
) -> None:
    async with asked(size) as pilot:
        desk = games.game.desk
        pending = desk.waiting["bryn"]
        first, second = pending.proposal.chunks
        chunks = (first.model_copy(update={"updates": "led-1", "repeats": True, "quotes": ()}), second)
        proposal = pending.proposal.model_copy(update={"chunks": chunks})
        desk._keep(pending.model_copy(update={"proposal": proposal, "verdicts": ("accepted", "open")}))
        await settle(pilot)
        await keys(pilot, settle, "v")
        screen = pilot.app.screen
        assert isinstance(screen, ReviewScreen)
        assert screen.at == 1
        assert screen.chunks.keys[:2] == ["1", "0"]
        assert "memory 1  unchanged" in screen.chunks.text()
        await keys(pilot, settle, "a")
        assert "All are decided" in seen(pilot)
        await keys(pilot, settle, "up", "down", "x")
        assert "memory 1  rejected" in screen.chunks.text()


async def test_moments_stand_in_the_order_of_the_mind(asked: Open, settle: Settle) -> None:
    async with asked((200, 50)) as pilot:
        await keys(pilot, settle, "v")
        screen = pilot.app.screen
        assert isinstance(screen, ReviewScreen)
        text = screen.moments.text()
        assert text.index("Old news 5.") < text.index("Old news 0.")


async def test_rounds_that_stop_for_a_question_say_how_many_were_played(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen,
) -> None:
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "V", "R")
        await pilot.press("5", "enter")
        await settle(pilot)
        assert "2 of 5 rounds played: Bryn Harrow asks. v shows what, n goes on without it." in seen(pilot)
        await keys(pilot, settle, "q")
        assert "1 proposal waits" in " ".join(seen(pilot).split())
        assert host.shelf.all()[0].note.waiting == 1
    await host.close()


async def test_a_thread_that_goes_on_in_the_same_words_is_unchanged_on_the_real_engine(tmp_path: Path, settle: Settle, seen: Seen) -> None:
    host = GameHost(tmp_path, speed=0.0)
    app = OthermindsApp(host)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", *["n"] * 3, "V", *["n"] * 4)
        assert host.game is not None
        waiting = await host.game.memory.pending()
        quiet = [one for one in waiting if "accepted" in one.verdicts]
        assert quiet
        await keys(pilot, settle, "v")
        screen = pilot.app.screen
        assert isinstance(screen, ReviewScreen)
        for _ in waiting:
            if screen._owner == quiet[0].proposal.owner_id:
                break
            await keys(pilot, settle, "right")
        standing = [str(index) for index, verdict in enumerate(quiet[0].verdicts) if verdict == "accepted"]
        assert [key for key in screen.chunks.keys if key.isdigit()][-len(standing):] == standing
        assert screen.chunks.text().count("unchanged") == len(standing)
    await host.close()
