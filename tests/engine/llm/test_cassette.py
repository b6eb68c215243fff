"""Calls recorded on a tape, and replayed from it without a model."""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from engine.errors import BadOutputError, CapReachedError, ModelError, ProviderError
from engine.llm.cassette import NotOnTapeError, Playback, Recorder, Replayed, TapeError, recorded, replayed
from engine.llm.meter import Meter
from engine.llm.observed import Wrapped
from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest, Usage
from engine.llm.scripted import Scripted
from engine.llm.tokens import scaled_tokens
from engine.records.clean import clean
from engine.records.models import Call
from engine.records.prompts import Message, Task
from engine.records.world import World

INN = World(slug="inn", name="The Inn", seed=7, now=datetime(1247, 3, 1), places={}, portals={}, entities={})


def asking(text: str = "Speak.", task: Task = "actor", entity: str = "mara", round_: int = 1, **more: object) -> ModelRequest:
    messages = (Message(role="user", content=text),)
    request = ModelRequest(task=task, entity=entity, round=round_, seed=7, template="actor.1", messages=messages)
    return request.model_copy(update=more)


class Told(Wrapped):
    """Does what it is told, call by call: pieces to be heard, then a completion or an error."""

    def __init__(self, *outcomes: tuple[Sequence[str | None], Completion | Exception]) -> None:
        super().__init__(Scripted([], name="told"))
        self.outcomes = list(outcomes)
        self.window, self.scale = 8192, 1.0

    @property
    def context_window(self) -> int:
        return self.window

    def count_tokens(self, text: str) -> int:
        return scaled_tokens(text, self.scale)

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        pieces, outcome = self.outcomes.pop(0)
        for piece in pieces:
            if heard is not None:
                heard(piece)
            await asyncio.sleep(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def says(text: str, **more: object) -> Completion:
    usage = Usage(prompt_tokens=120, reply_tokens=7)
    return Completion(text=text, model="openai/told", usage=usage, cost=0.25).model_copy(update=more)


class Studio:
    """A tape in a folder, recorded and replayed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.meter = Meter()

    def recording(self, model: LanguageModel, world: World = INN, going_on: bool = False) -> tuple[LanguageModel, Recorder]:
        recorder = Recorder(self.path, going_on=going_on)
        try:
            recorder.begin(world, self.meter)
        except TapeError:
            recorder.close()
            raise
        return recorded(model, {}, recorder)[0], recorder

    def replaying(self, world: World = INN, **timing: float) -> tuple[LanguageModel, Playback, Meter]:
        playback, meter = Playback(self.path, **timing), Meter()
        playback.begin(world, meter)
        return replayed(playback)[1]["actor"], playback, meter

    async def record(self, model: LanguageModel, *requests: ModelRequest) -> None:
        recording, recorder = self.recording(model)
        for request in requests:
            await heard_of(recording, request)
        recorder.close()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return Studio(tmp_path / "inn.tape")


async def heard_of(model: LanguageModel, request: ModelRequest) -> tuple[list[str | None], Completion | ModelError]:
    """What is heard of a call, and how it ends."""
    pieces: list[str | None] = []
    try:
        return pieces, await model.complete(request, pieces.append)
    except ModelError as error:
        return pieces, error


async def test_a_reply_comes_back_whole_with_its_pieces_and_what_it_took(studio: Studio) -> None:
    full = says("Good evening.", cut=True, added="Reply with JSON like {}", usage=Usage(prompt_tokens=3, reply_tokens=9, estimated=True))
    recording, recorder = studio.recording(Told((["Good", None, "Good ", "evening."], full)))
    first = await heard_of(recording, asking())
    recorder.close()
    replay, playback, _ = studio.replaying()
    assert await heard_of(replay, asking()) == first == (["Good", None, "Good ", "evening."], full)
    assert (playback.unused, playback.missed) == (0, 0)


async def test_a_reply_nobody_listened_to_is_heard_in_one_piece(studio: Studio) -> None:
    recording, recorder = studio.recording(Told(([], says("Good evening."))))
    await recording.complete(asking())
    recorder.close()
    assert (await heard_of(studio.replaying()[0], asking()))[0] == ["Good evening."]


@pytest.mark.parametrize(
    "error",
    [
        ModelError("The actor is silent.", "Try again."),
        BadOutputError("text: Field required", reply='{"a": "\x1b[31mred"}', advice="Look at the reply."),
        ProviderError("x is away.", "Wait.", trouble="rate_limited", retry_after=12.5),
        ProviderError("x is gone.", trouble="no_key"),
    ],
)
async def test_a_failed_call_fails_again_in_the_same_words(studio: Studio, error: ModelError) -> None:
    recording, recorder = studio.recording(Told((["Go", "od"], error)))
    first = await heard_of(recording, asking())
    recorder.close()
    pieces, again = await heard_of(studio.replaying()[0], asking())
    assert (pieces, first[1]) == (["Go", "od"], error)
    assert isinstance(again, ModelError)
    assert (type(again), str(again), again.advice) == (type(error), str(error), error.advice)
    for name in ("reply", "trouble", "retry_after"):
        assert getattr(again, name, None) == getattr(error, name, None)


async def test_a_call_that_a_cap_forbade_or_that_was_stopped_leaves_no_trace(studio: Studio) -> None:
    class Hanging(Told):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

    recording, recorder = studio.recording(Told(([], CapReachedError("That is enough.", cap="run_tokens"))))
    with pytest.raises(CapReachedError):
        await recording.complete(asking())
    stopped = asyncio.create_task(recorded(Hanging(), {}, recorder)[0].complete(asking()))
    await asyncio.sleep(0)
    stopped.cancel()
    await asyncio.wait({stopped})
    recorder.close()
    assert [line["kind"] for line in studio.lines() if line["kind"] == "call"] == []


async def test_what_was_metered_of_a_call_is_metered_again(studio: Studio) -> None:
    class Metering(Told):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            for failed in ("", "It broke off."):
                call = Call(task=request.task, entity=request.entity, round=1, model="openai/told", prompt_tokens=40, reply_tokens=2)
                studio.meter.add(call.model_copy(update={"failed": failed, "cost": None if failed else 0.5, "seconds": 1.5}))
            return await super().complete(request, heard)

    await studio.record(Metering(([], says("a")), ([], ModelError("no"))), asking("one"), asking("two", entity="tom"))
    replay, _, meter = studio.replaying()
    await heard_of(replay, asking("one"))
    await heard_of(replay, asking("two", entity="tom"))
    assert meter.total == studio.meter.total
    assert dict(meter.by_entity) == dict(studio.meter.by_entity)
    assert (meter.total.calls, meter.total.failed, meter.total.unpriced, meter.total.cost) == (4, 2, 2, 1.0)


async def test_equal_requests_are_answered_in_their_order_and_no_more_often(studio: Studio) -> None:
    model = Told(([], says("first")), ([], ModelError("second")), ([], says("third")), ([], says("another")))
    await studio.record(model, asking(), asking(), asking(), asking("Else?"))
    replay, playback, _ = studio.replaying()
    ends = [(await heard_of(replay, asking()))[1] for _ in range(4)]
    assert [end.text if isinstance(end, Completion) else str(end)[:6] for end in ends[:3]] == ["first", "second", "third"]
    assert isinstance(ends[3], NotOnTapeError)
    assert "It was asked less often when it was recorded." in str(ends[3])
    assert (playback.unused, playback.missed) == (1, 1)
    await replay.complete(asking("Else?"))
    with pytest.raises(NotOnTapeError, match=r"All calls on it have been replayed: the recording ends here, in round 1\.$"):
        await replay.complete(asking())


class Shape(BaseModel):
    verdict: str


async def test_whatever_decides_on_a_reply_is_told_apart(studio: Studio) -> None:
    asked = [
        asking("a"), asking("b"), asking("a", task="decode"), asking("a", entity="tom"), asking("a", round_=2), asking("a", seed=8),
        asking("a", attempt=1), asking("a", template="actor.2"), asking("a", response=Shape), asking("a", choices={"verdict": ("yes",)}),
        asking("a", max_tokens=1024), asking("a", temperature=0.3),
        asking("a", messages=(Message(role="user", content="a"), Message(role="assistant", content="b"))),
        asking("a", messages=(Message(role="system", content="a"),)),
    ]
    await studio.record(Told(*[([], says(str(number))) for number in range(len(asked))]), *asked)
    replay = studio.replaying()[0]
    texts = [(await replay.complete(request)).text for request in reversed(asked)]
    assert texts == [str(number) for number in reversed(range(len(asked)))]


async def test_time_limits_do_not_decide_on_a_reply(studio: Studio) -> None:
    await studio.record(Told(([], says("a"))), asking())
    assert (await studio.replaying()[0].complete(asking(timeout=3.0))).text == "a"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (asking(seed=8), "The seed of chance was 7, now it is 8."),
        (asking(template="actor.2"), "The template was actor.1, now it is actor.2."),
        (asking("The long line that both begin with, then rain."),
         'first where they were "…begin with, then snow." and are "…begin with, then rain." now.'),
        (asking("The long line that both begin with, then snow.", max_tokens=9), "What differs is max_tokens."),
        (asking(entity="tom"), "actor for tom in round 1. The nearest is actor for mara in round 1."),
        (asking(round_=4), "It ends in round 1, and 1 of its calls were not asked for."),
        (asking(task="referee"), "Nobody was asked for referee when it was recorded."),
    ],
)
async def test_what_is_not_on_the_tape_is_said_with_what_differs_and_what_to_do(
    studio: Studio, request_: ModelRequest, words: str
) -> None:
    await studio.record(Told(([], says("a"))), asking("The long line that both begin with, then snow."))
    replay, playback, _ = studio.replaying()
    with pytest.raises(ModelError) as caught:
        await replay.complete(request_)
    told = str(caught.value)
    assert words in told
    assert f"{request_.task} for {request_.entity} in round {request_.round}" in told
    assert "Replay with the same world files, version" in told
    assert "seed (7)" in told
    assert playback.missed == 1


async def test_a_tape_of_another_game_is_refused(studio: Studio) -> None:
    await studio.record(Told(([], says("a"))), asking())
    with pytest.raises(TapeError, match=r"a tape of The Inn with seed 7, and this game has seed 8\."):
        studio.replaying(INN.model_copy(update={"seed": 8}))
    with pytest.raises(TapeError, match=r"is a tape of The Inn, and this is The Ship\."):
        studio.replaying(INN.model_copy(update={"slug": "ship", "name": "The Ship"}))


async def test_what_a_model_says_of_itself_changes_where_it_changed(studio: Studio) -> None:
    class Learning(Told):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            self.window -= 1000
            self.scale *= 1.1
            return await super().complete(request, heard)

    def said(model: LanguageModel) -> tuple[str, int, int, bool]:
        return model.name, model.context_window, model.count_tokens("word " * 999), model.small

    model = Learning(([], says("a")), ([], ProviderError("long", trouble="too_long")), ([], says("b")))
    recording, recorder = studio.recording(model)
    then = [said(recording)]
    for text in "one", "two", "three":
        await heard_of(recording, asking(text))
        then.append(said(recording))
    recorder.close()
    replay, _, _ = studio.replaying()
    now = [said(replay)]
    for text in "one", "two", "three":
        await heard_of(replay, asking(text))
        now.append(said(replay))
    assert now == then
    assert len(set(then)) == 4


async def test_a_count_alone_tells_that_a_model_counts_otherwise(studio: Studio) -> None:
    model = Told(([], says("a")), ([], says("b")))
    recording, recorder = studio.recording(model)
    await recording.complete(asking("one"))
    model.scale = 1.3
    then = recording.count_tokens("word " * 999)
    await recording.complete(asking("two"))
    recorder.close()
    replay, _, _ = studio.replaying()
    await replay.complete(asking("one"))
    assert replay.count_tokens("word " * 999) == then > 1600


async def test_each_task_has_the_facts_of_its_own_model(studio: Studio) -> None:
    recorder = Recorder(studio.path)
    recorder.begin(INN, studio.meter)
    recorded(Scripted(name="big", context_window=9000), {"decode": Scripted(name="tiny", context_window=2000, small=True)}, recorder)
    recorder.close()
    playback = Playback(studio.path)
    playback.begin(INN, Meter())
    default, routes = replayed(playback)
    assert (default.name, routes["actor"].name, routes["decode"].name) == ("big", "big", "tiny")
    assert (routes["decode"].small, routes["decode"].context_window, routes["handoff"].small) == (True, 2000, False)


# calls side by side


async def _side_by_side(studio: Studio, order: Sequence[str]) -> None:
    """Record three calls that are under way together and end in this order."""
    gates = {name: asyncio.Event() for name in order}

    class Gated(Told):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            await gates[request.entity].wait()
            return says(request.entity)

    recording, recorder = studio.recording(Gated())
    tasks = {name: asyncio.create_task(recording.complete(asking(entity=name))) for name in sorted(order)}
    await asyncio.sleep(0)
    for name in order:
        gates[name].set()
        await tasks[name]
    recorder.close()


def _ends(replay: LanguageModel, ended: list[str]) -> Callable[[str], "asyncio.Task[None]"]:
    async def ask(name: str) -> None:
        await replay.complete(asking(entity=name))
        ended.append(name)

    return lambda name: asyncio.create_task(ask(name))


async def test_calls_side_by_side_end_in_the_order_in_which_they_ended(studio: Studio) -> None:
    await _side_by_side(studio, "cab")
    ended: list[str] = []
    ask = _ends(studio.replaying()[0], ended)
    await asyncio.gather(*[ask(name) for name in "abc"])
    assert ended == ["c", "a", "b"]


async def test_the_order_is_given_up_when_a_call_does_not_come(studio: Studio) -> None:
    await _side_by_side(studio, "cab")
    ended: list[str] = []
    replay, playback, _ = studio.replaying(patience=0.05)
    ask = _ends(replay, ended)
    await asyncio.gather(ask("a"), ask("b"))
    assert sorted(ended) == ["a", "b"]
    assert playback.unused == 1


async def test_the_order_is_given_up_when_something_else_is_asked(studio: Studio) -> None:
    await _side_by_side(studio, "cab")
    ended: list[str] = []
    replay, _, _ = studio.replaying(patience=3600.0)
    waiting = _ends(replay, ended)("b")
    await asyncio.sleep(0)
    with pytest.raises(NotOnTapeError):
        await replay.complete(asking(entity="d"))
    await waiting
    assert ended == ["b"]


async def test_a_call_that_is_stopped_in_a_replay_can_be_asked_again(studio: Studio) -> None:
    await _side_by_side(studio, "cab")
    replay, playback, _ = studio.replaying()
    stopped = asyncio.create_task(replay.complete(asking(entity="b")))
    await asyncio.sleep(0)
    stopped.cancel()
    await asyncio.wait({stopped})
    assert [(await replay.complete(asking(entity=name))).text for name in "cab"] == ["c", "a", "b"]
    assert (playback.unused, playback.missed) == (0, 0)


# the file


async def test_a_tape_is_never_written_over(studio: Studio) -> None:
    await studio.record(Told(([], says("a"))), asking())
    before = studio.path.read_bytes()
    with pytest.raises(TapeError, match="is a tape of The Inn already"):
        Recorder(studio.path)
    assert studio.path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"Dear diary\n", b"SQLite format 3\0" + bytes(200), b'{"kind": "call"}\n', b"\n", b'{"kind": "tape"}\n', b'{"kind": "tape"']
)
@pytest.mark.parametrize("going_on", [False, True])
def test_a_file_that_is_no_tape_is_never_written_over(studio: Studio, content: bytes, going_on: bool) -> None:
    studio.path.write_bytes(content)
    with pytest.raises(TapeError, match="is no tape"):
        Recorder(studio.path, going_on=going_on)
    assert studio.path.read_bytes() == content


def test_a_tape_that_nothing_was_recorded_on_leaves_no_file(studio: Studio) -> None:
    recorder = Recorder(studio.path)
    recorder.close()
    recorder.close()
    assert not studio.path.exists()


def test_two_runs_do_not_record_on_one_tape(studio: Studio) -> None:
    first = Recorder(studio.path)
    with pytest.raises(TapeError, match="Another run records on"):
        Recorder(studio.path)
    first.close()


@pytest.mark.parametrize("where", ["", "missing/inn.tape"])
def test_a_place_that_holds_no_file_is_refused(tmp_path: Path, where: str) -> None:
    with pytest.raises(TapeError, match=r"is no file|cannot be written"):
        Recorder(tmp_path / where)
    with pytest.raises(TapeError, match=r"is no file|cannot be read"):
        Playback(tmp_path / where)


async def test_a_tape_goes_on_with_its_save_also_after_a_line_that_was_not_written_to_its_end(studio: Studio) -> None:
    await studio.record(Told(([], says("a"))), asking())
    with studio.path.open("ab") as file:
        file.write(b'{"kind": "call", "key": "12')
    recording, recorder = studio.recording(Told(([], says("b"))), INN.model_copy(update={"round": 1}), going_on=True)
    await recording.complete(asking(round_=2))
    recorder.close()
    replay, playback, _ = studio.replaying()
    assert [(await replay.complete(asking(round_=number))).text for number in (1, 2)] == ["a", "b"]
    assert [line["round"] for line in studio.lines() if line["kind"] == "tape"] == [0, 1]
    assert playback.unused == 0


async def test_a_tape_does_not_go_on_with_another_save(studio: Studio) -> None:
    await studio.record(Told(([], says("a"))), asking(round_=5))
    before = studio.path.read_bytes()
    with pytest.raises(TapeError, match="goes on to round 5 already, and this save is in round 3"):
        studio.recording(Told(), INN.model_copy(update={"round": 3}), going_on=True)
    with pytest.raises(TapeError, match="a tape of The Inn with seed 7"):
        studio.recording(Told(), INN.model_copy(update={"seed": 1, "round": 9}), going_on=True)
    assert studio.path.read_bytes() == before


async def test_a_save_is_replayed_from_where_it_stands(studio: Studio) -> None:
    model = Told(([], says("a")), ([], says("b")))
    recording, recorder = studio.recording(model)
    await recording.complete(asking(round_=1))
    model.window = 4000
    assert recording.context_window == 4000
    await recording.complete(asking(round_=2))
    recorder.close()
    replay, playback, _ = studio.replaying(INN.model_copy(update={"round": 1}))
    assert (replay.context_window, playback.unused) == (4000, 1)
    assert (await replay.complete(asking(round_=2))).text == "b"
    assert playback.unused == 0


async def test_a_full_disk_ends_the_recording_and_not_the_game(studio: Studio) -> None:
    resource = pytest.importorskip("resource")
    told: list[str] = []
    recorder = Recorder(studio.path)
    recorder.tell = told.append
    recorder.begin(INN, studio.meter)
    recording, _ = recorded(Told(*[([], says("a" * 3000))] * 3), {}, recorder)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (studio.path.stat().st_size + 5000, hard))
        texts = [(await recording.complete(asking(str(number)))).text for number in range(3)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    recorder.close()
    assert texts == ["a" * 3000] * 3
    assert told == [recorder.fault]
    assert "Nothing is recorded from here on." in recorder.fault
    assert (await studio.replaying()[0].complete(asking("0"))).text == "a" * 3000


@pytest.mark.parametrize("more", [{"text": "half a \ud83c"}, {"cost": -1.0}, {"cost": float("nan")}])
async def test_what_no_tape_can_hold_ends_the_recording_and_not_the_game(studio: Studio, more: dict[str, object]) -> None:
    told: list[str] = []
    recording, recorder = studio.recording(Told(([], says("a")), ([], says("b").model_copy(update=more)), ([], says("c"))))
    recorder.tell = told.append
    for text in "one", "two", "three":
        assert isinstance((await heard_of(recording, asking(text)))[1], Completion)
    recorder.close()
    assert told == [recorder.fault]
    assert "A call of told cannot be recorded" in recorder.fault
    replay, playback, _ = studio.replaying()
    assert (await replay.complete(asking("one"))).text == "a"
    assert playback.unused == 0


async def test_each_call_is_on_the_tape_before_its_reply_is_used(studio: Studio) -> None:
    recording, recorder = studio.recording(Told(([], says("a")), ([], says("b"))))
    await recording.complete(asking())
    assert (await studio.replaying()[0].complete(asking())).text == "a"
    recorder.close()


async def test_nothing_on_a_tape_is_a_control_character(studio: Studio) -> None:
    wild = "\x1b[31mred\x9b1m \u202eback \x00 \x7f\u2028\u2066"
    await studio.record(Told(([wild, "\ud83c", wild], says(wild + "é🏮")), ([], BadOutputError(wild, reply=wild))), asking(wild), asking())
    data = studio.path.read_bytes()
    assert all(line.decode().isprintable() for line in data.splitlines())
    assert "é🏮".encode() in data
    replay = studio.replaying()[0]
    pieces, reply = await heard_of(replay, asking(wild))
    assert pieces == [wild, "\N{REPLACEMENT CHARACTER}", wild]
    assert isinstance(reply, Completion)
    assert reply.text == wild + "é🏮"
    _, error = await heard_of(replay, asking())
    assert isinstance(error, BadOutputError)
    assert (error.reply, str(error)) == (wild, clean(wild))


# strangers' files


async def _three_calls(studio: Studio) -> bytes:
    model = Told((["Good ", "evening."], says("Good evening.")), ([], ModelError("Silent.")), ([], says("Farewell.")))
    await studio.record(model, *[asking(str(number), round_=number) for number in (1, 2, 3)])
    return studio.path.read_bytes()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 10**6))
def test_a_tape_cut_anywhere_gives_the_calls_that_are_whole(studio: Studio, at: int) -> None:
    studio.path.unlink(missing_ok=True)
    whole = asyncio.run(_three_calls(studio))
    cut = whole[: at % (len(whole) + 1)]
    studio.path.write_bytes(cut)
    if b"\n" not in cut:
        with pytest.raises(TapeError, match="is no tape"):
            Playback(studio.path)
        return

    async def replay() -> list[str]:
        model = studio.replaying()[0]
        ends = [(await heard_of(model, asking(str(number), round_=number)))[1] for number in (1, 2, 3)]
        return [end.text if isinstance(end, Completion) else "missing" if isinstance(end, NotOnTapeError) else str(end) for end in ends]

    calls = sum(line.startswith(b'{"kind": "call"') for line in cut.split(b"\n")[:-1])
    assert asyncio.run(replay()) == ["Good evening.", "Silent.", "Farewell."][:calls] + ["missing"] * (3 - calls)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_tape_changed_anywhere_is_refused_or_replayed(studio: Studio, changes: list[tuple[int, int]]) -> None:
    studio.path.unlink(missing_ok=True)
    changed = bytearray(asyncio.run(_three_calls(studio)))
    for at, byte in changes:
        changed[at % len(changed)] = byte
    studio.path.write_bytes(changed)
    try:
        model, playback, meter = studio.replaying()
    except TapeError as error:
        assert str(error).replace(str(studio.path), "").isprintable()  # noqa: PT017 - it may as well be replayed
        return

    async def replay() -> None:
        for number in (1, 2, 3):
            await heard_of(model, asking(str(number), round_=number))

    asyncio.run(replay())
    assert playback.missed + playback.unused >= 0
    assert meter.total.calls <= 3


TITLE = (
    b'{"kind": "tape", "format": "otherminds tape", "version": 1, "program": "0.1.0", "world": "inn", "name": "The Inn", "seed": 7, '
    b'"round": 0}\n'
)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"[" * 100_000 + b"\n", "line 2"),
        (b'{"kind": "models", "models": {"actor": {"name": "x", "context_window": 0, "small": false, "scale": 1}}}\n', "context_window"),
        (b'{"kind": "models", "models": {"actor": {"name": "x", "context_window": 1, "small": false, "scale": NaN}}}\n', "scale"),
        (b'{"kind": "models", "models": {"cook": {"name": "x", "context_window": 1, "small": false, "scale": 1}}}\n', "line 2"),
        (b'{"kind": "embedder", "name": "x", "dim": 100000000, "meaning": 1, "same": 1, "merge": 1, "taped": true}\n', "dim"),
        (b'{"kind": "pickle", "data": "x"}\n', "line 2"),
        (b'{"kind": "tape\x1b[31m", "data": "x"}\n', "line 2"),
        (b"null\n", "line 2"),
        (b"\xff\xfe\n", "line 2"),
        (b'{"kind": "vectors", "texts": ["../../etc/passwd"], "seconds": 1}\n', "texts"),
    ],
)
def test_what_does_not_belong_on_a_tape_is_refused_with_its_line(studio: Studio, line: bytes, words: str) -> None:
    studio.path.write_bytes(TITLE + line + TITLE)
    with pytest.raises(TapeError) as caught:
        Playback(studio.path)
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cost", -1.0), ("cost", float("nan")), ("cost", float("inf")), ("prompt_tokens", 10**400), ("prompt_tokens", -1),
        ("seconds", float("nan")), ("seconds", -3), ("task", "cook"), ("surprise", 1),
    ],
)
async def test_metered_calls_beyond_reason_are_refused(studio: Studio, name: str, value: object) -> None:
    call = Call(task="actor", entity="mara", round=1, model="x", prompt_tokens=1, reply_tokens=1)

    class Metering(Told):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            studio.meter.add(call)
            return await super().complete(request, heard)

    await studio.record(Metering(([], says("a"))), asking())
    lines = studio.lines()
    [taped] = [line for line in lines if line["kind"] == "call"]
    [metered] = taped["calls"]
    metered[name] = value
    studio.path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, lines[0]]), encoding="utf-8")
    with pytest.raises(TapeError, match="line 3"):
        Playback(studio.path)


def test_a_tape_of_a_newer_version_is_refused_as_such(studio: Studio) -> None:
    studio.path.write_bytes(TITLE.replace(b'"version": 1', b'"version": 2, "new": true'))
    with pytest.raises(TapeError, match="newer version"):
        Playback(studio.path)


async def test_names_and_errors_of_a_strangers_tape_are_no_control_sequences(studio: Studio) -> None:
    await studio.record(Told(([], ModelError("Silent.")), ([], says("a"))), asking("1"), asking("2"))
    text = studio.path.read_text(encoding="utf-8")
    text = text.replace("Silent.", "\\u001b]0;owned\\u0007\\u001b[2JSilent.").replace("told", "\\u001b[31mtold")
    studio.path.write_text(text, encoding="utf-8")
    replay, _, _ = studio.replaying()
    _, error = await heard_of(replay, asking("1"))
    _, reply = await heard_of(replay, asking("2"))
    assert str(error) == "Silent."
    assert isinstance(reply, Completion)
    assert (replay.name, reply.model) == ("told", "openai/told")


async def test_a_tape_that_changes_under_a_replay_is_an_error_for_people(studio: Studio) -> None:
    whole = await _three_calls(studio)
    replay, _, _ = studio.replaying()
    studio.path.write_bytes(whole[:-50])
    with pytest.raises(TapeError, match="was changed while it is replayed"):
        await replay.complete(asking("3", round_=3))


OUTCOMES = st.one_of(
    st.text(max_size=40).map(lambda text: says(text)),
    st.builds(lambda text, reply: BadOutputError(text, reply), st.text("abc \n", max_size=20), st.text(max_size=20)),
    st.builds(lambda text: ProviderError(text, trouble="overloaded"), st.text("abc ", max_size=20)),
)
PIECES = st.lists(st.one_of(st.none(), st.text(max_size=8)), max_size=5)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["one", "two", "three\n"]), PIECES, OUTCOMES), max_size=8))
def test_whatever_was_recorded_is_replayed(
    studio: Studio, calls: list[tuple[str, list[str | None], Completion | ModelError]]
) -> None:
    studio.path.unlink(missing_ok=True)

    async def both() -> None:
        recording, recorder = studio.recording(Told(*[(pieces, outcome) for _, pieces, outcome in calls]))
        then = [await heard_of(recording, asking(text)) for text, _, _ in calls]
        recorder.close()
        replay, playback, _ = studio.replaying()
        now = [await heard_of(replay, asking(text)) for text, _, _ in calls]
        for (heard, end), (heard_then, end_then) in zip(now, then, strict=True):
            assert heard == heard_then
            assert type(end) is type(end_then)
            assert end == end_then if isinstance(end, Completion) else vars(end) == vars(end_then)
        assert playback.unused == 0

    asyncio.run(both())


def test_a_replayed_model_without_a_whole_tape_still_says_who_it_is(studio: Studio) -> None:
    studio.path.write_bytes(TITLE)
    playback = Playback(studio.path)
    playback.begin(INN, Meter())
    model = Replayed(playback, "actor")
    assert (model.name, model.context_window, model.count_tokens("a word")) == ("tape", 8192, 2)
