"""The desk over models: settings that hold at once, caps, forecasts, tests, servers; with a game and without one."""

from pathlib import Path

import pytest

from engine.errors import CommandError, SettingsError
from engine.events import Called, EngineEvent, Paused, Trouble
from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.llm.usage_log import UsageLog
from engine.model_desk import ModelDesk
from engine.model_proposals import Due
from engine.records.hints import ModelHints
from engine.records.models import LocalServer, Spent
from engine.settings import CapSettings, TaskSettings, put_aside, settings_path
from engine.setup import Setup
from tests.engine.llm.stack import a_call
from tests.fake_behaviour import says
from tests.fake_server import FakeServer


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"OTHERMINDS_CONFIG": str(tmp_path / "config"), "OTHERMINDS_HOME": str(tmp_path / "home")}


def demo() -> Path:
    return next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")


def test_without_a_game_the_storyteller_answers_everything(environ: dict[str, str]) -> None:
    desk = ModelDesk(environ=environ)
    assert {route.endpoints[0].model for route in desk.routes()} == {"storyteller"}
    assert {route.set_by for route in desk.routes()} == {"built in"}
    assert desk.caps() == ()


async def test_a_forecast_needs_a_game(environ: dict[str, str]) -> None:
    with pytest.raises(CommandError, match="No game"):
        await ModelDesk(environ=environ).forecast()


async def test_what_is_set_is_written_and_holds_at_once(environ: dict[str, str], tmp_path: Path) -> None:
    desk = ModelDesk(environ=environ)
    await desk.set("models.handoff", ["openai/gpt-5-mini", "storyteller"])
    route = next(route for route in desk.routes() if route.task == "handoff")
    assert [one.model for one in route.endpoints] == ["openai/gpt-5-mini", "storyteller"]
    assert route.set_by == "settings"
    assert ModelDesk(environ=environ).settings == desk.settings
    await desk.set("models.handoff", None)
    assert {route.endpoints[0].model for route in desk.routes()} == {"storyteller"}


async def test_a_setting_that_cannot_hold_changes_nothing(environ: dict[str, str], tmp_path: Path) -> None:
    desk = ModelDesk(environ=environ)
    await desk.set("caps.run_tokens", 1000)
    before = (tmp_path / "config" / "settings.toml").read_bytes()
    for key, value in (("caps.run_tokens", -1), ("models.acter", "storyteller"), ("models.actor", "gpt-5-mini")):
        with pytest.raises(SettingsError):
            await desk.set(key, value)
    assert (tmp_path / "config" / "settings.toml").read_bytes() == before
    assert desk.settings.caps == CapSettings(run_tokens=1000)


async def test_the_environment_stands_over_what_is_set(environ: dict[str, str]) -> None:
    desk = ModelDesk(environ=environ | {"OTHERMINDS_MODEL_ACTOR": "storyteller"})
    assert next(route.set_by for route in desk.routes() if route.task == "actor") == "environment"
    with pytest.raises(SettingsError, match="OTHERMINDS_MODEL_ACTOR"):
        await desk.set("models.actor", "openai/gpt-5-mini")
    await desk.set("models.decode", "openai/gpt-5-mini")  # no other task is concerned


async def test_a_cap_that_changes_leaves_the_models_as_they_are(environ: dict[str, str]) -> None:
    desk = ModelDesk(environ=environ)
    before = desk.models
    await desk.set("caps.run_tokens", 5000)
    assert desk.models is before
    assert [(state.cap, state.limit) for state in desk.caps()] == [("run_tokens", 5000)]
    await desk.set("models.default", "openai/gpt-5-mini")
    assert desk.models is not before


async def test_a_server_is_put_to_use_in_one_go(environ: dict[str, str]) -> None:
    desk = ModelDesk(environ=environ)
    server = LocalServer(kind="ollama", api_base="http://127.0.0.1:9", models=("ollama_chat/llama3.2:3b",))
    await desk.use(server, "ollama_chat/llama3.2:3b", "actor")
    route = next(route for route in desk.routes() if route.task == "actor")
    assert (route.endpoints[0].model, route.endpoints[0].api_base, route.endpoints[0].small) == (
        "ollama_chat/llama3.2:3b", "http://127.0.0.1:9", True,
    )
    assert next(route.endpoints[0].model for route in desk.routes() if route.task == "decode") == "storyteller"


async def test_what_a_person_set_of_a_server_stays_when_it_is_used_again(environ: dict[str, str]) -> None:
    desk = ModelDesk(environ=environ)
    server = LocalServer(kind="ollama", api_base="http://127.0.0.1:9", models=("ollama_chat/llama3.2:3b",))
    await desk.use(server, "ollama_chat/llama3.2:3b", "actor")
    [name] = desk.settings.endpoint
    await desk.set_all({f"endpoint.{name}.input_price": 1.0, f"endpoint.{name}.output_price": 2.0, f"endpoint.{name}.timeout": 33.0})
    before = desk.settings.endpoint[name]
    await desk.use(server, "ollama_chat/llama3.2:3b")
    assert desk.settings.endpoint[name] == before
    assert desk.settings.models.default.model == name


async def test_settings_that_another_program_wrote_hold_from_the_next_look(environ: dict[str, str]) -> None:
    events: list[EngineEvent] = []
    desk = ModelDesk(events.append, environ=environ)
    other = ModelDesk(environ=environ)
    await other.set("caps.run_tokens", 4321)
    await desk.refresh()
    assert [state.limit for state in desk.caps()] == [4321]
    path = settings_path(environ)
    path.write_text("[caps]\nrun_tokens = -1\n")
    await desk.refresh()
    await desk.refresh()
    assert [type(event) for event in events] == [Trouble]
    assert [state.limit for state in desk.caps()] == [4321]
    path.unlink()
    await desk.refresh()
    assert desk.caps() == ()


async def test_a_run_pauses_before_its_cap_and_goes_on_when_it_is_raised(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    events: list[EngineEvent] = []
    game = await Game.create(demo(), tmp_path / "a.db", seed=7)
    try:
        game.listen(events.append)
        await game.models.set("caps.run_tokens", 12_000)
        reports = [await game.step() for _ in range(6)]
        paused = next(report for report in reports if report.paused)
        assert "12,000" in paused.paused
        assert game.meter.total.tokens <= 12_000
        assert [event.cap for event in events if isinstance(event, Paused)][:1] == ["run_tokens"]
        stopped = game.meter.total.tokens
        await game.models.set("caps.run_tokens", None)
        report = await game.step()
        assert report.beats > 0
        assert not report.paused
        assert game.meter.total.tokens > stopped
        assert sum(event.call.prompt_tokens + event.call.reply_tokens for event in events if isinstance(event, Called)) == (
            game.meter.total.tokens
        )
    finally:
        await game.close()


async def test_a_forecast_begins_as_a_guess_and_then_goes_by_what_was_played(tmp_path: Path) -> None:
    game = await Game.create(demo(), tmp_path / "a.db", seed=7)
    try:
        guess = await game.models.forecast()
        assert "nothing was played" in guess.basis
        assert guess.prompt_tokens > 0
        await game.step()
        spent = game.meter.by_round[1]
        learned = await game.models.forecast()
        assert "last round" in learned.basis
        assert 0.2 * spent.tokens < learned.prompt_tokens + learned.reply_tokens < 5 * spent.tokens
        assert learned.cost == 0.0
    finally:
        await game.close()


async def test_a_setup_holds_for_one_run_alone(tmp_path: Path) -> None:
    setup = Setup(caps=CapSettings(run_tokens=3_000), model=TaskSettings(model="storyteller"))
    game = await Game.create(demo(), tmp_path / "a.db", seed=7, setup=setup)
    try:
        report = await game.step()
        assert report.paused
        assert game.meter.total.tokens <= 3_000
    finally:
        await game.close()
    again = await Game.open(tmp_path / "a.db")
    try:
        assert again.models.caps() == ()
        assert not (await again.step()).paused
    finally:
        await again.close()


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
async def test_a_test_says_whether_a_model_answers(environ: dict[str, str]) -> None:
    async with FakeServer() as server:
        desk = ModelDesk(environ=environ)
        await desk.set_all(
            {"endpoint.home": {"model": "openai/any", "api_base": server.base, "structured": "prompt"}, "models.actor": "home"}
        )
        report = await desk.test("home")
        assert report.ok, report.text
        assert desk.meter.by_model["openai/any"].calls >= 1
    gone = await desk.test("home")
    assert (gone.ok, gone.trouble) == (False, "unreachable")


async def test_what_is_built_in_stands_in_until_the_settings_are_put_right(environ: dict[str, str]) -> None:
    path = settings_path(environ)
    path.parent.mkdir()
    path.write_text("[models]\ndefault = 'openai/gpt-5-mini'\nacter = 1\n[caps]\nrun_tokens = 5\n")
    with pytest.raises(SettingsError):
        ModelDesk(environ=environ)
    desk = ModelDesk(environ=environ, setup=Setup(stand_in=True))
    assert desk.fault is not None
    assert desk.fault.lines == (3,)
    assert {route.endpoints[0].model for route in desk.routes()} == {"storyteller"}
    assert desk.caps() == ()
    for refused in (desk.set("caps.run_tokens", 10), desk.reload()):
        with pytest.raises(SettingsError):
            await refused
    assert "acter" in path.read_text()
    put_aside(path, 3)
    await desk.refresh()
    assert not desk.fault
    assert [state.limit for state in desk.caps()] == [5]
    path.write_text("[models\n")
    await desk.refresh()
    assert "is not TOML" in str(desk.fault)
    assert [state.limit for state in desk.caps()] == [5]


@pytest.mark.parametrize("made", [True, False])
async def test_a_game_is_played_by_the_storyteller_while_settings_cannot_be_used(tmp_path: Path, made: bool, own: Path) -> None:
    save = tmp_path / "a.db"
    if not made:
        await (await Game.create(demo(), save, seed=7)).close()
    own.write_text("[models]\nacter = 1\n")  # noqa: ASYNC240 - a test
    with pytest.raises(SettingsError):
        await (Game.create(demo(), save, seed=7) if made else Game.open(save))
    setup = Setup(stand_in=True)
    game = await (Game.create(demo(), save, seed=7, setup=setup) if made else Game.open(save, setup=setup))
    assert (await game.step()).beats
    assert game.models.fault is not None
    await game.close()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file of this process."""
    monkeypatch.setenv("OTHERMINDS_CONFIG", str(tmp_path))
    monkeypatch.setenv("OTHERMINDS_HOME", str(tmp_path / "home"))
    return tmp_path / "settings.toml"


async def test_what_a_save_took_is_counted_over_all_sittings(tmp_path: Path, own: Path) -> None:
    save, taken = tmp_path / "a.db", Spent()
    for cost in (0.5, 0.25):
        game = await (Game.open(save) if save.exists() else Game.create(demo(), save, seed=7))
        game.meter.add(a_call(cost=cost))
        game.meter.add(a_call(model="storyteller", cost=0.0))
        taken += Spent.of(a_call(cost=cost))
        assert (await game.models.usage()).save == taken
        await game.close()
    assert (await ModelDesk().usage()).save is None
    save.unlink()
    game = await Game.create(demo(), save, seed=7)
    assert (await game.models.usage()).save == Spent()
    await game.close()


async def test_what_the_day_took_is_known_without_a_cap(environ: dict[str, str]) -> None:
    UsageLog(Path(environ["OTHERMINDS_HOME"])).add(a_call(cost=0.5))
    assert (await ModelDesk(environ=environ).usage()).today == Spent.of(a_call(cost=0.5))


async def test_suggestions_are_there_also_when_something_else_is_set_and_what_they_cost_is_told(environ: dict[str, str]) -> None:
    hints = ModelHints(models={"default": "openai/gpt-5-mini", "handoff": "ollama_chat/nobody-knows-it", "actor": "http://x/y"})

    async def due() -> Due:
        return Due(beats=2, handoffs=1, prompt_tokens=1000, buffer_tokens=500)

    desk = ModelDesk(hints=hints, due=due, environ=environ)
    assert set(desk.suggested()) == {"default", "handoff"}
    await desk.set("models.default", "anthropic/claude-haiku-4-5")
    assert set(desk.suggested()) == {"default", "handoff"}
    await desk.set("models.handoff", "ollama_chat/nobody-knows-it")
    assert set(desk.suggested()) == {"default"}
    proposal = await desk.proposal()
    [one] = proposal.suggestions
    assert (one.task, one.endpoint.name, one.by_leave) == ("default", "openai/gpt-5-mini", False)
    assert one.endpoint.input_price
    assert proposal.forecast is not None
    assert proposal.forecast.cost
    assert proposal.forecast.seconds is None
    assert desk.settings.models.default.model == "anthropic/claude-haiku-4-5"
    await desk.set_all({"models.default": None, "models.handoff": None})
    assert all(each.by_leave for each in (await desk.proposal()).suggestions)


async def test_a_model_that_was_found_is_tried_without_being_set_up(environ: dict[str, str]) -> None:
    async with FakeServer(kind="llama.cpp", window=4096) as server:
        server.behave(says("I am ready."), says('{"word": "lantern", "count": 3}'))
        desk = ModelDesk(environ=environ | {"LLAMA_ARG_PORT": str(server.port)})
        found = next(one for one in await desk.servers() if one.api_base == server.base)
        report = await desk.test_found(found, found.models[0])
    assert report.ok
    assert desk.meter.total.calls == 2
    assert not settings_path(environ).exists()
    assert {one.model for one in desk.endpoints()} == {"storyteller"}
