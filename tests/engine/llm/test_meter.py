"""What calls add up to, and what the next round may take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.meter import Meter
from engine.records.models import Call, CapState, Spent
from engine.records.prompts import Task
from tests.engine.llm.stack import a_call

CALLS = st.builds(
    a_call, st.sampled_from(("actor", "decode", "referee", "handoff", "collapse")), entity=st.sampled_from("abc"),
    round_=st.integers(1, 9), model=st.sampled_from(("storyteller", "openai/x")), prompt=st.integers(0, 99), reply=st.integers(0, 99),
    cost=st.none() | st.just(0.25), seconds=st.just(0.5), failed=st.sampled_from(("", "It broke off.")), estimated=st.booleans(),
)  # fmt: skip


def metered(*calls: Call) -> Meter:
    meter = Meter()
    for call in calls:
        meter.add(call)
    return meter


def test_calls_add_up_by_task_entity_round_and_model() -> None:
    meter = metered(
        a_call("actor", entity="a", round_=1), a_call("actor", entity="b", round_=2, model="storyteller", cost=0.0),
        a_call("handoff", entity="a", round_=2, cost=None, failed="It broke off.", estimated=True),
    )
    assert meter.total == Spent(calls=3, failed=1, prompt_tokens=300, reply_tokens=30, estimated=1, cost=0.5, unpriced=1, seconds=3.0)
    assert {task: spent.calls for task, spent in meter.by_task.items()} == {"actor": 2, "handoff": 1}
    assert {entity: spent.tokens for entity, spent in meter.by_entity.items()} == {"a": 220, "b": 110}
    assert {round_: spent.calls for round_, spent in meter.by_round.items()} == {1: 1, 2: 2}
    assert {model: spent.calls for model, spent in meter.by_model.items()} == {"openai/x": 2, "storyteller": 1}


@given(st.lists(CALLS, max_size=30))
def test_whichever_way_it_is_looked_at_it_is_the_same_sum(calls: list[Call]) -> None:
    meter = metered(*calls)
    for parts in (meter.by_task, meter.by_entity, meter.by_round, meter.by_model):
        assert sum(parts.values(), Spent()) == meter.total
    assert meter.total == sum(map(Spent.of, calls), Spent())


def test_a_long_run_keeps_five_hundred_rounds_apart_and_loses_nothing() -> None:
    meter = metered(*(a_call(round_=round_) for round_ in range(1, 1201)))
    assert list(meter.by_round) == list(range(701, 1201))
    assert meter.earlier.calls == 700
    assert sum(meter.by_round.values(), meter.earlier) == meter.total
    meter.add(a_call(round_=3))  # after an undo
    assert meter.by_round[3].calls == 1
    assert 701 not in meter.by_round


def test_who_listens_hears_of_each_call_when_it_is_counted() -> None:
    meter, seen = Meter(), list[tuple[str, int]]()
    meter.listen(lambda call: seen.append((call.task, meter.total.calls)))
    meter.add(a_call("actor"))
    meter.add(a_call("decode"))
    assert seen == [("actor", 1), ("decode", 2)]


def beat(round_: int, entity: str, prompt: int = 100) -> list[Call]:
    tasks: tuple[Task, ...] = ("actor", "decode", "referee")
    return [a_call(task, entity=entity, round_=round_, prompt=prompt, reply=0, cost=0.1, seconds=2.0) for task in tasks]


def test_a_forecast_is_what_the_last_five_rounds_took_times_what_is_due() -> None:
    meter = metered(*(call for round_ in range(1, 10) for entity in "ab" for call in beat(round_, entity, prompt=100 * round_)))
    forecast = meter.forecast(4, 0)
    assert forecast.calls == 12
    assert forecast.prompt_tokens == pytest.approx(4 * 3 * 700)  # the mean of rounds 5 to 9
    assert forecast.cost == pytest.approx(4 * 0.3)
    assert forecast.seconds == pytest.approx(4 * 6)
    assert forecast.basis == "as the last 5 rounds"


def test_what_a_person_wrote_is_decoded_and_is_no_beat_that_is_due() -> None:
    meter = metered(*beat(1, "a"), a_call("decode", entity="player", prompt=9000), a_call("referee", entity="player", prompt=9000))
    assert meter.forecast(1, 0).prompt_tokens == 300


def test_attempts_that_failed_are_part_of_what_a_beat_takes() -> None:
    meter = metered(a_call("actor", prompt=50, reply=0, failed="It broke off.", estimated=True), *beat(1, "a"))
    assert meter.forecast(2, 0).prompt_tokens == 700
    assert meter.forecast(2, 0).calls == 8


def test_a_beat_that_is_played_again_is_another_beat() -> None:
    meter = metered(*beat(1, "a"), *beat(1, "a"))
    assert meter.forecast(1, 0).prompt_tokens == 300


def test_handoffs_are_reckoned_with_all_their_calls_and_remembered_when_they_are_rare() -> None:
    meter = metered(a_call("handoff", round_=1, prompt=400, reply=0), a_call("handoff", round_=1, prompt=200, reply=0))
    for round_ in range(2, 9):
        for call in beat(round_, "a"):
            meter.add(call)
    assert meter.forecast(0, 2).prompt_tokens == 1200
    assert meter.forecast(1, 1).prompt_tokens == 900
    assert meter.forecast(1, 1).basis == "as the last 5 rounds"


def test_before_any_round_and_after_a_change_of_models_a_guess_stands_in() -> None:
    meter, guess = Meter(), Spent(calls=3, prompt_tokens=900, reply_tokens=90, cost=0.01, seconds=5)
    forecast = meter.forecast(2, 1, beat=guess, handoff=Spent(calls=1, prompt_tokens=50), guess="3 prompts of now")
    assert (forecast.calls, forecast.prompt_tokens, forecast.reply_tokens) == (7, 1850, 180)
    assert forecast.cost == pytest.approx(0.02)
    assert forecast.basis == "nothing was played with these models yet: 3 prompts of now"
    for call in beat(1, "a"):
        meter.add(call)
    assert meter.forecast(1, 0, beat=guess).prompt_tokens == 300
    assert meter.forecast(1, 0, beat=guess).basis == "as the last round"
    assert meter.forecast(1, 1, beat=guess, handoff=guess, guess="of now").basis == "as the last round, the rest a guess: of now"
    meter.models_changed()
    assert meter.forecast(1, 0, beat=guess).prompt_tokens == 900
    assert meter.forecast(0, 0).basis == "nothing is due"


def test_a_price_that_is_unknown_is_never_told_as_nothing() -> None:
    meter = metered(*beat(1, "a"), a_call("actor", entity="b", cost=None))
    assert meter.forecast(1, 0).cost is None
    assert Meter().forecast(1, 0, beat=Spent(calls=1, unpriced=1)).cost is None


@pytest.mark.parametrize(
    ("cap", "model", "cost", "stops"),
    [
        (CapState(cap="run_tokens", limit=1000, used=400), "openai/x", 0.1, None),
        (CapState(cap="run_tokens", limit=1000, used=401), "openai/x", 0.1, "run_tokens"),
        (CapState(cap="run_tokens", limit=1000, used=401), "storyteller", 0.0, "run_tokens"),
        (CapState(cap="day_tokens", limit=1000, used=401), "openai/x", 0.1, "day_tokens"),
        (CapState(cap="day_tokens", limit=1000, used=401), "storyteller", 0.0, None),
        (CapState(cap="day_money", limit=1, used=0.4), "openai/x", 0.1, None),
        (CapState(cap="day_money", limit=1, used=0.45), "openai/x", 0.1, "day_money"),
        (CapState(cap="run_money", limit=100, used=0), "openai/x", None, "run_money"),
    ],
)
def test_a_forecast_names_the_cap_that_would_stop_it(cap: CapState, model: str, cost: float | None, stops: str | None) -> None:
    tasks: tuple[Task, ...] = ("actor", "decode", "referee")
    meter = metered(*(a_call(task, model=model, prompt=50, reply=50, cost=cost) for task in tasks))
    assert meter.forecast(2, 0, caps=[CapState(cap="run_tokens", limit=10_000, used=0), cap]).stops == stops
