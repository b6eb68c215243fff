"""Labels from what anybody can see."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.protocol import ModelRequest
from engine.prompts.alias import build
from engine.records.prompts import Prompt
from engine.records.wire import AliasReply
from engine.records.world import Attribute, Entity, World
from tests.engine.llm.talks import BRYN, WORLD, told

NEWCOMER = "en_new"


def world_with(looks: str, *, agent: bool = True) -> World:
    attributes = {"appearance": Attribute(name="appearance", value=looks, public=True)} if looks.strip() else {}
    newcomer = Entity(id=NEWCOMER, agent=agent, place="pl_bar", order=8, attributes=attributes)
    return WORLD.model_copy(update={"entities": {**WORLD.entities, NEWCOMER: newcomer}})


def prompt_of(looks: str, *, agent: bool = True) -> Prompt:
    return build(world_with(looks, agent=agent), BRYN, NEWCOMER)


def label(looks: str, *, agent: bool = True, attempt: int = 0) -> str:
    return AliasReply.model_validate_json(told(prompt_of(looks, agent=agent), attempt=attempt)).label


@pytest.mark.parametrize(("looks", "name"), [
    ("A tall bald man in an apron", "the tall bald man"), ("a stooped old woman with twine round her fingers", "the stooped old woman"),
    ("a thin girl", "the thin girl"), ("tall and bald, wearing an apron", "the tall bald stranger"),
    ("She is very tall, hooded and quick.", "the tall hooded stranger"),
    ("a long grey beard", "the bearded stranger"), ("grey hair", "the grey-haired stranger"), ("", "the unknown figure"),
    ("a Dutch sailor called Gareth", "the dutch sailor"), ("a sailor, thin and wet", "the sailor"),
])  # fmt: skip
def test_a_label_is_what_anybody_would_notice_first(looks: str, name: str) -> None:
    assert label(looks) == name


def test_a_thing_has_one_too() -> None:
    assert label("a heavy brass lantern with a leather strap", agent=False) == "the heavy brass lantern"
    assert label("", agent=False) == "the unfamiliar thing"


def test_it_is_told_apart_from_the_others_around() -> None:
    others = prompt_of("a wet stranger in a cloak").messages[-1].content
    assert "the first wet stranger" in others
    assert label("a wet stranger in a cloak") not in ("the wet stranger", "the stranger")


def test_who_asks_again_gets_another() -> None:
    found = [label("A tall bald man in an apron", attempt=attempt) for attempt in range(4)]
    assert found == ["the tall bald man", "the tall man", "the bald man", "the man in the apron"]


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=120), st.booleans(), st.integers(0, 6))
def test_whatever_it_looks_like_the_label_is_one(looks: str, agent: bool, attempt: int) -> None:
    found = label(looks, agent=agent, attempt=attempt)
    assert 4 <= len(found) <= 48
    assert re.fullmatch(r"the [^\W\d_][^\s]*(?: \S+)*", found)
    assert found == label(looks, agent=agent, attempt=attempt)
    assert found not in {"the innkeeper", "the wet stranger", "Gareth", "Orla Venn", "the iron key"}


def test_a_request_without_looks_still_has_a_reply() -> None:
    message = prompt_of("").messages[-1].model_copy(update={"content": "nothing"})
    request = ModelRequest(task="alias", entity=BRYN, round=1, seed=1, messages=(message,))
    assert request.task == "alias"
    assert AliasReply.model_validate_json(told(prompt_of("").model_copy(update={"messages": (message,)}))).label == "the stranger"
