"""What the Play screen says of calls to models: those that take their time, those that wait for the reader's word, the last ones."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from engine.errors import CallDeclinedError
from engine.events import BeatFailed, CallChanged
from engine.files.bundled import WorldInfo
from engine.llm.caps import Caps
from engine.llm.meter import Meter
from engine.llm.metered import Metered
from engine.llm.scripted import Scripted
from engine.llm.underway import Watched
from engine.records.models import CallView
from engine.records.prompts import Message
from engine.settings import CapSettings
from tests.engine.llm.stack import ask_for
from tests.tui.conftest import Clock
from tests.tui.keys import keys, opening
from tests.tui.scripted import HOSTILE, FakeGames
from tui.calls import CallBook
from tui.dialogs.held import HeldDialog
from tui.dialogs.note import NoteDialog
from tui.host import GameHost
from tui.panes.rows import RowList
from tui.screens.play import PlayScreen
from tui.screens.playbars import Line, speakers
from tui.view import WorldView

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["narrow", "wide"])
MODEL = "openai/qwen2.5-7b"


def view(key: int = 1, state: str = "sent", **known: Any) -> CallView:
    given = {
        "task": "actor", "entity": "bryn", "round": 1, "model": MODEL, "template": "actor.1",
        "messages": (Message(role="system", content="You are Bryn."), Message(role="user", content="What do you [b]do[/b]?")),
    } | known
    return CallView(key=key, state=state, **given)


@pytest.fixture
def playing(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle) -> Open:
    """A fresh game on the Play screen."""
    return opening(host, worlds, settle, "d")


def play(pilot: Pilot[Any]) -> PlayScreen:
    [screen] = [screen for screen in pilot.app.screen_stack if isinstance(screen, PlayScreen)]
    return screen


def on(pilot: Pilot[Any], kind: type[Screen[Any]]) -> bool:
    return isinstance(pilot.app.screen, kind)


def bottom(pilot: Pilot[Any], seen: Seen) -> str:
    return seen(pilot).splitlines()[-2]


def in_dialog(screen: str) -> str:
    """The words within the frame of the whole note."""
    lines = screen.splitlines()
    top = next(number for number, line in enumerate(lines) if "In full" in line)
    left, right = lines[top].index("┏━ In full"), lines[top].index("┓", lines[top].index("In full"))
    end = next(number for number in range(top + 1, len(lines)) if lines[number][left] == "┗")
    return " ".join(" ".join(line[left + 1 : right] for line in lines[top + 1 : end]).split())


async def told(pilot: Pilot[Any], games: FakeGames, *calls: CallView) -> None:
    for call in calls:
        games.game._tell(CallChanged(call=call))
    play(pilot).tick()
    await pilot.pause()


async def at(pilot: Pilot[Any], clock: Clock, seconds: float) -> None:
    """Time passes."""
    clock.now = seconds
    play(pilot).tick()
    await pilot.pause()


# the book


def test_a_call_is_worth_a_word_after_a_second_and_the_storyteller_never_is() -> None:
    clock = Clock()
    book = CallBook(clock)
    book.hear(view(1))
    book.hear(view(2, model="storyteller"))
    clock.now = 1.0
    assert book.line() == ""
    clock.now = 34.9
    assert book.line() == "actor · qwen2.5-7b · 34 s"
    book.hear(view(3, "waiting", task="collapse"))
    book.hear(view(4, task="validate"))
    assert book.line() == "actor · qwen2.5-7b · 34 s · 3 calls"
    book.hear(view(1, "replied", reply="I nod."))
    clock.now = 134.9
    assert book.line() == "validate · qwen2.5-7b · 1 m 40 s · 2 calls"
    book.hear(view(4, "failed", failed="stopped", task="validate"))
    assert book.line() == "collapse · qwen2.5-7b · waits its turn 1 m 40 s"


def test_the_last_call_of_each_task_is_kept_but_not_what_was_never_sent() -> None:
    book = CallBook(Clock())
    book.hear(view(1))
    book.hear(view(1, "replied", reply="I nod."))
    book.hear(view(2, "held"))
    assert [(call.key, call.state) for call in book.live] == [(2, "held")]
    book.hear(view(2, "failed", failed="stopped"))
    book.hear(view(3, "sent", task="decode"))
    book.hear(view(3, "failed", failed="It broke off.", task="decode"))
    assert [(call.task, call.reply or call.failed) for call in book.last("bryn")] == [("actor", "I nod."), ("decode", "It broke off.")]
    assert book.last("mira") == ()
    assert [call.key for call in book.live] == [3]


# the line at the bottom


@SIZES
async def test_a_slow_call_is_said_with_its_task_model_and_seconds(
    playing: Open, seen: Seen, games: FakeGames, clock: Clock, size: tuple[int, int],
) -> None:
    async with playing(size) as pilot:
        await told(pilot, games, view())
        assert "qwen" not in bottom(pilot, seen)
        await at(pilot, clock, 34.2)
        assert bottom(pilot, seen).endswith("actor · qwen2.5-7b · 34 s")
        await told(pilot, games, view(2, task="collapse"), view(3, "waiting", task="validate"))
        await at(pilot, clock, 35.2)
        assert bottom(pilot, seen).endswith("actor · qwen2.5-7b · 35 s · 3 calls")
        await told(pilot, games, *(view(key, "replied") for key in (1, 2, 3)), view(4, model="storyteller"))
        await at(pilot, clock, 60.0)
        assert "·" not in bottom(pilot, seen).replace("in mind", "")


@contextmanager
def painted() -> Iterator[list[str]]:
    """Names of what is painted meanwhile."""
    names: list[str] = []
    lines, rows = Line.render, RowList.render_line

    def render(line: Line) -> Any:
        names.append(type(line).__name__)
        return lines(line)

    def render_line(widget: RowList, y: int) -> Any:
        names.append(f"{widget.id}")
        return rows(widget, y)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Line, "render", render)
        patch.setattr(RowList, "render_line", render_line)
        yield names


async def test_while_a_call_is_waited_for_one_line_is_painted_once_a_second(playing: Open, games: FakeGames, clock: Clock) -> None:
    async with playing((200, 50)) as pilot:
        play(pilot).ticker.pause()  # type: ignore[union-attr]
        await told(pilot, games, view())
        await at(pilot, clock, 5.0)
        with painted() as names:
            for part in range(15):
                await at(pilot, clock, 5.0 + part / 16)
            assert names == []
            await at(pilot, clock, 6.0)
            assert names == ["StatusLine"]


# the top


def test_who_speaks_is_said_with_whom_it_stands_in_for_and_who_does_the_rest() -> None:
    one = WorldView(speaker="storyteller", away="openai/x")
    assert speakers(one)[:2] == ("storyteller (openai/x is away)", "storyteller (x is away)")
    other = WorldView(speaker="storyteller", others={"handoff": MODEL})
    assert speakers(other) == (f"storyteller, handoff by {MODEL}", "storyteller, handoff by qwen2.5-7b", "storyteller")
    assert speakers(WorldView(speaker="storyteller", others={"handoff": MODEL, "decode": MODEL}))[1] == "storyteller, 2 tasks by qwen2.5-7b"
    assert speakers(WorldView(speaker="a/b", others={"handoff": MODEL, "decode": "storyteller"}))[0] == "a/b, 2 tasks by others"


@SIZES
async def test_the_top_names_the_one_that_stands_in_until_the_first_answers_again(
    playing: Open, seen: Seen, games: FakeGames, size: tuple[int, int],
) -> None:
    async with playing(size) as pilot:
        models = games.game.models
        models.speaker, models.away = "storyteller", "openai/x"
        await told(pilot, games, view(1, model="storyteller"))
        assert "storyteller (openai/x is away)" in seen(pilot).splitlines()[0]
        models.speaker, models.away = "openai/x", ""
        await told(pilot, games, view(2, "replied", model="openai/x"))
        assert "away" not in seen(pilot).splitlines()[0]
        assert "openai/x" in seen(pilot).splitlines()[0]


@SIZES
async def test_the_storyteller_is_named_when_another_model_does_some_tasks(
    playing: Open, seen: Seen, games: FakeGames, size: tuple[int, int],
) -> None:
    async with playing(size) as pilot:
        games.game.models.speakers = {"handoff": MODEL}
        await told(pilot, games, view(model="storyteller"))
        top = seen(pilot).splitlines()[0]
        assert "storyteller" in top
        assert size[0] < 100 or f"storyteller, handoff by {MODEL}" in top
        assert f"handoff: {MODEL}" in str(pilot.app.screen.query_one("#top-bar", Widget).tooltip)


@SIZES
async def test_recording_is_shown_with_where_it_goes(
    host: GameHost, worlds: Any, settle: Settle, seen: Seen, games: FakeGames, size: tuple[int, int],
) -> None:
    games.recording = Path("/tapes/night.tape")
    async with opening(host, worlds, settle, "d")(size) as pilot:
        assert "● rec" in seen(pilot).splitlines()[0]
        assert "All calls to models are recorded on /tapes/night.tape." in bottom(pilot, seen)
        assert "/tapes/night.tape" in str(pilot.app.screen.query_one("#top-bar", Widget).tooltip)
        games.recording = None  # the tape cannot be written any more
        await told(pilot, games, view())
        assert "rec" not in seen(pilot).splitlines()[0]


# opening


async def test_while_models_are_got_ready_the_world_is_there_and_the_line_says_what_is_going_on(
    host: GameHost, worlds: Any, settle: Settle, seen: Seen, games: FakeGames, monkeypatch: pytest.MonkeyPatch,
) -> None:
    create, loaded = games.create, asyncio.Event()

    async def slow(*given: Any) -> Any:
        game = await create(*given)
        game.models.loading, game.models.loaded = "Loading the model adapter…", loaded
        return game

    monkeypatch.setattr(games, "create", slow)
    async with opening(host, worlds, settle)((200, 50)) as pilot:
        await pilot.press("d")
        async with asyncio.timeout(20):
            while "Loading the model adapter…" not in seen(pilot):
                await pilot.pause(0.02)
        await pilot.pause(0.2)
        for text in ("tap room", "Bryn Harrow", "A small inn.", "Old news", "Loading the model adapter…"):
            assert text in seen(pilot)
        loaded.set()
        await settle(pilot)
        assert "Loading" not in seen(pilot)


# notes


@SIZES
async def test_a_long_note_opens_in_full_with_its_advice_first(
    playing: Open, settle: Settle, seen: Seen, games: FakeGames, size: tuple[int, int],
) -> None:
    advice = "Wait, or put another model after it: `otherminds config set models.default openai/x,storyteller`."
    reason = f"openai/x has trouble of its own: {'The server had an error [/] while processing. ' * 4}{advice}"
    async with playing(size) as pilot:
        games.game._tell(BeatFailed(entity="bryn", reason=reason, advice=advice))
        await settle(pilot)
        assert "f3 Whole note" in seen(pilot).splitlines()[-1]
        await keys(pilot, settle, "f3")
        assert on(pilot, NoteDialog)
        words = in_dialog(seen(pilot))
        assert words.startswith(f"What to do {advice}")
        assert words.count(advice) == 1
        assert "Bryn Harrow could not act: openai/x has trouble of its own: The server had an error [/]" in words
        assert "Nothing was lost" in words
        await keys(pilot, settle, "escape")
        assert on(pilot, PlayScreen)
        await keys(pilot, settle, "n", "N")  # something else is said: what was wrong last can still be read
        assert advice in in_dialog(seen(pilot))


async def test_a_short_note_offers_no_more(playing: Open, seen: Seen) -> None:
    async with playing((80, 24)) as pilot:
        assert "Whole note" not in seen(pilot)


# the prompt pane


async def test_the_prompt_pane_shows_the_call_under_way_and_the_last_of_each_task(
    playing: Open, settle: Settle, seen: Seen, games: FakeGames,
) -> None:
    async with playing((120, 40)) as pilot:
        await keys(pilot, settle, "6")
        rows, preview = play(pilot).prompt.rows, play(pilot).prompt.rows.text()
        assert "WHO YOU ARE" in preview
        await keys(pilot, settle, "c")  # nothing was sent: there is nothing else
        assert rows.text() == preview
        await told(pilot, games, view(1, entity="mira", shape='{"type": "json_schema"}'))
        await keys(pilot, settle, "c")
        assert "actor of Mira Sol, under way" in seen(pilot)
        for text in ("actor for Mira Sol, by openai/qwen2.5-7b", "You are Bryn.", "What do you [b]do[/b]?", '{"type": "json_schema"}'):
            assert text in rows.text()
        assert "Reply" not in rows.text()
        await told(pilot, games, view(1, "replied", entity="mira", reply="I nod."))
        assert "sent last" in seen(pilot)
        assert "I nod." in rows.text()
        await told(pilot, games, view(2, task="decode"), view(2, "replied", task="decode", reply="{}"), view(3, task="actor"))
        assert "actor of Bryn Harrow, under way" in seen(pilot)
        await keys(pilot, settle, "c")
        assert "actor of Bryn Harrow, the last" in seen(pilot)
        await keys(pilot, settle, "c")
        assert "decode of Bryn Harrow, the last" in seen(pilot)
        await keys(pilot, settle, "c")
        assert rows.text() == preview


# asking before each call


@pytest.fixture
def model(games: FakeGames) -> Callable[[], tuple[Watched, Scripted]]:
    """A model whose calls are told of by the open game's desk, and what it is asked."""

    def made() -> tuple[Watched, Scripted]:
        calls, meter, inner = games.game.models.calls, Meter(), Scripted(["fine"] * 9, name=MODEL)
        return Watched(Metered(inner, meter, Caps(CapSettings(), meter), sent=calls.sent), calls), inner

    return made


async def shown(pilot: Pilot[Any], so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not so():
            play(pilot).tick()
            await pilot.pause(0.01)


@SIZES
async def test_a_held_call_is_shown_with_its_size_and_goes_out_with_enter(
    playing: Open, settle: Settle, seen: Seen, model: Any, size: tuple[int, int],
) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "H")
        watched, inner = model()
        assert "holds calls" in seen(pilot).splitlines()[0]
        asked = [asyncio.create_task(watched.complete(ask_for(text=f"Text {number} {HOSTILE}", entity="bryn"))) for number in (1, 2)]
        await shown(pilot, lambda: on(pilot, HeldDialog))
        await pilot.pause()
        for text in ("actor for Bryn Harrow, by openai/qwen2.5-7b", "at most, free", "Text 1 [red]x[/]", "1 more after it"):
            assert text in seen(pilot)
        assert inner.requests == []
        await pilot.press("enter")
        assert (await asked[0]).text == "fine"
        assert len(inner.requests) == 1
        await shown(pilot, lambda: "Text 2" in seen(pilot))
        await pilot.press("a")
        assert (await asked[1]).text == "fine"
        await settle(pilot)
        assert on(pilot, PlayScreen)
        assert "holds calls" not in seen(pilot).splitlines()[0]


async def test_one_may_look_around_while_a_call_is_held_and_stop_it(playing: Open, settle: Settle, seen: Seen, model: Any) -> None:
    async with playing((80, 24)) as pilot:
        await keys(pilot, settle, "H")
        watched, inner = model()
        asked = asyncio.create_task(watched.complete(ask_for(entity="bryn")))
        await shown(pilot, lambda: on(pilot, HeldDialog))
        await pilot.press("o")
        await shown(pilot, lambda: "held: f4" in seen(pilot))
        await keys(pilot, settle, "4", "1")
        assert on(pilot, PlayScreen)
        await pilot.press("f4")
        await shown(pilot, lambda: on(pilot, HeldDialog))
        await pilot.press("escape")
        with pytest.raises(CallDeclinedError):
            await asked
        await settle(pilot)
        assert on(pilot, PlayScreen)
        assert inner.requests == []


async def test_a_held_call_takes_no_keys_from_one_who_writes(playing: Open, settle: Settle, seen: Seen, model: Any) -> None:
    async with playing((120, 40)) as pilot:
        await keys(pilot, settle, "H", "t")
        watched, inner = model()
        await pilot.press(*"I wai")
        asked = asyncio.create_task(watched.complete(ask_for(entity="bryn")))
        await shown(pilot, lambda: "a call waits for your word: f4" in seen(pilot))
        await pilot.press(*"t")
        assert play(pilot).story.say.value == "I wait"
        await pilot.press("f4")
        await shown(pilot, lambda: on(pilot, HeldDialog))
        await pilot.press("enter")
        assert (await asked).text == "fine"
        await settle(pilot)
        assert play(pilot).story.say.value == "I wait"
        assert len(inner.requests) == 1


async def test_a_held_call_that_is_given_up_elsewhere_takes_its_dialog_with_it(playing: Open, settle: Settle, model: Any) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "H")
        asked = asyncio.create_task(model()[0].complete(ask_for(entity="bryn")))
        await shown(pilot, lambda: on(pilot, HeldDialog))
        asked.cancel()
        await shown(pilot, lambda: on(pilot, PlayScreen))


async def test_what_is_begun_because_a_game_is_opened_is_held_and_shown_too(
    host: GameHost, worlds: Any, settle: Settle, seen: Seen, games: FakeGames, model: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    create, asked = games.create, list[asyncio.Task[Any]]()

    async def busy(*given: Any) -> Any:
        game = await create(*given)
        asked.append(asyncio.create_task(model()[0].complete(ask_for("collapse", entity="bryn"))))
        await asyncio.sleep(0.01)
        return game

    monkeypatch.setattr(games, "create", busy)
    host.ask_first(True)
    async with opening(host, worlds, settle)() as pilot:
        await pilot.press("d")
        async with asyncio.timeout(20):
            while not on(pilot, HeldDialog):
                await pilot.pause(0.02)
        await pilot.pause()
        assert "collapse for Bryn Harrow" in seen(pilot)
        await pilot.press("enter")
        assert (await asked[0]).text == "fine"


async def test_holding_goes_on_in_the_next_game(playing: Open, settle: Settle, seen: Seen, games: FakeGames) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "H", "q", "d")
        assert games.game.models.calls.asks
        assert "holds calls" in seen(pilot).splitlines()[0]
