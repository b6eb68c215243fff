"""What a world suggests counts below what the player sets, and chooses nothing that costs."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.records.hints import ModelHints
from engine.records.prompts import Task
from engine.settings import Settings, TaskSettings, suggested, with_hints
from engine.settings.hints import CALLED

HINTS = ModelHints(models={"default": "openai/big", "decode": "openai/small"}, temperatures={"default": 0.9, "referee": 0.0})


def settings(**tables: object) -> Settings:
    return Settings.model_validate(tables)


def test_a_world_chooses_no_model_without_leave() -> None:
    for given_ in (Settings(), settings(models={"hints": False})):
        assert {with_hints(given_, HINTS).models.answering(task).model for task in CALLED} == {"storyteller"}
    assert suggested(Settings(), HINTS) == {"default": "openai/big", "decode": "openai/small"}


def test_with_leave_it_chooses_where_nothing_is_set() -> None:
    models = with_hints(settings(models={"hints": True, "actor": "home"}, endpoint={"home": {"model": "a/b"}}), HINTS).models
    assert models.answering("actor").names == ("home",)
    assert models.answering("decode").names == ("openai/small",)
    assert models.answering("narrate").names == ("openai/big",)
    assert models.default.names == ("openai/big",)


def test_a_default_that_is_set_stands_for_all_tasks() -> None:
    set_ = settings(models={"hints": True, "default": "storyteller"})
    assert {with_hints(set_, HINTS).models.answering(task).model for task in CALLED} == {"storyteller"}
    assert suggested(set_, HINTS) == {}
    assert suggested(settings(models={"decode": "storyteller"}), HINTS) == {"default": "openai/big"}


@pytest.mark.parametrize("name", ["http://evil.example/v1", "huggingface/https://evil.example", "mine", "/", "openai/", "a/\x1b[2J", ""])
def test_no_address_and_no_name_of_the_players_own_is_taken_from_a_world(name: str) -> None:
    hints = ModelHints(models={"default": name, "actor": name})
    mine = settings(models={"hints": True}, endpoint={"mine": {"model": "openai/paid"}})
    assert suggested(mine, hints) == {}
    assert with_hints(mine, hints).models.answering("actor").model == "storyteller"


def test_a_temperature_counts_where_neither_task_nor_endpoint_has_one() -> None:
    set_ = settings(
        models={"actor": {"model": "a/b", "temperature": 0.1}, "decode": ["plain", "cool"], "narrate": ["plain"], "alias": {"timeout": 5}},
        endpoint={"cool": {"model": "a/c", "temperature": 0.2}, "plain": {"model": "a/d"}},
    )
    models = with_hints(set_, HINTS).models
    assert models.answering("actor").temperature == 0.1
    assert models.answering("decode").temperature is None, "an endpoint that answers it has its own"
    assert models.answering("narrate") == TaskSettings(model="plain", temperature=0.9)
    assert models.answering("referee") == TaskSettings(temperature=0.0)
    assert models.answering("alias") == TaskSettings(timeout=5, temperature=0.9)
    assert models.answering("handoff").names == models.default.names


def test_a_temperature_leaves_the_models_as_they_are() -> None:
    set_ = settings(models={"default": ["a/b", "storyteller"], "decode": {"timeout": 9}})
    models = with_hints(set_, HINTS).models
    assert all(models.answering(task).names == ("a/b", "storyteller") for task in CALLED)
    assert models.answering("decode").timeout == 9
    assert models.default.temperature is None


KEYS = st.sampled_from(["default", *get_args(Task)])
NAMES = st.sampled_from(["storyteller", "openai/a", "b/c", "home", "http://x/y"])
TABLES = st.dictionaries(
    st.sampled_from(["default", *CALLED]),
    st.fixed_dictionaries({}, optional={"model": st.sampled_from(["a/b", "home"]), "temperature": st.floats(0, 2), "timeout": st.just(5)}),
)


@given(TABLES, st.booleans(), st.dictionaries(KEYS, NAMES), st.dictionaries(KEYS, st.floats(0, 2)))
def test_what_is_set_is_never_changed_by_a_world(
    lines: dict[str, object], leave: bool, models: dict[str, str], temperatures: dict[str, float]
) -> None:
    set_ = Settings.model_validate({"models": {**lines, "hints": leave}, "endpoint": {"home": {"model": "x/y", "temperature": 1}}})
    hints = ModelHints.model_validate({"models": models, "temperatures": temperatures})
    got = with_hints(set_, hints)
    assert (got.endpoint, got.provider, got.caps, got.models.embed) == (set_.endpoint, set_.provider, set_.caps, set_.models.embed)
    for task in CALLED:
        before, after = set_.models.answering(task), got.models.answering(task)
        if not leave or before.model != "storyteller":
            assert before.names == after.names
        assert before.temperature is None or after.temperature == before.temperature
        assert before.timeout == after.timeout
        assert "http://x/y" not in after.names
    assert with_hints(set_, ModelHints()) == set_
