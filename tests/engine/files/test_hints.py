"""What a world may suggest about models, and what it may not."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from engine.files.reader import read_world
from engine.records.hints import ModelHints
from tests.engine.files.conftest import HEAD
from tests.engine.files.mistakes import Mistake

Write = Callable[[Mapping[str, str]], Path]
W = "world.yaml"


def test_models_and_temperatures_by_task(write: Write) -> None:
    head = HEAD + (
        "models:\n  default: {temperature: 0.5}\n  actor: {suggest: openai/gpt-5-mini, temperature: 0.9}\n"
        "  handoff: ollama_chat/qwen2.5:7b-instruct\n  referee: {suggest: hosted_vllm/org/model@v1, temperature: 2}\n  decode:\n"
    )
    hints = read_world(write({W: head})).hints
    assert hints == ModelHints(
        models={"actor": "openai/gpt-5-mini", "handoff": "ollama_chat/qwen2.5:7b-instruct", "referee": "hosted_vllm/org/model@v1"},
        temperatures={"default": 0.5, "actor": 0.9, "referee": 2.0},
    )
    assert (hints.model("actor"), hints.model("decode"), hints.temperature("decode")) == ("openai/gpt-5-mini", None, 0.5)


def test_a_world_without_suggests_nothing(write: Write) -> None:
    assert read_world(write({})).hints == ModelHints()


MISTAKES = [
    Mistake("task", W, HEAD + "models: {⇒acter: a/b}\n", "models.acter", "no key `acter`", "did you mean `actor`?"),
    Mistake("embed", W, HEAD + "models: {⇒embed: openai/x}\n", "models.embed", "no key `embed`", "the embedder is the player's"),
    *(
        Mistake(key, W, HEAD + f"models: {{actor: {{suggest: a/b, ⇒{key}: x}}}}\n", f"models.actor.{key}", f"no key `{key}`", "settings")
        for key in ("api_base", "api_key", "key", "key_env", "url")
    ),
    Mistake("key for all", W, HEAD + "models: {⇒api_key: x}\n", "models.api_key", "no key `api_key`", "settings"),
    Mistake("other key", W, HEAD + "models: {actor: {⇒sugest: a/b}}\n", "models.actor.sugest", "no key `sugest`", "`suggest`?"),
    Mistake("address", W, HEAD + "models: {actor: ⇒'http://10.0.0.1/v1'}\n", "models.actor", "is an address", "settings"),
    Mistake("no name", W, HEAD + "models: {actor: ⇒a model}\n", "models.actor", "`a model` is no name of a model", "openai/gpt-5-mini"),
    Mistake("key in a name", W, HEAD + "models: {actor: ⇒'openai/x?key=1'}\n", "models.actor", "is no name of a model", ""),
    Mistake("list", W, HEAD + "models: {actor: ⇒[a/b, c/d]}\n", "models.actor", "should be a text, this is a list", ""),
    Mistake("hot", W, HEAD + "models: {actor: {temperature: ⇒2.1}}\n", "models.actor.temperature", "`2.1` is not a number from 0 to 2", ""),
    Mistake("words", W, HEAD + "models: {actor: {temperature: ⇒warm}}\n", "models.actor.temperature", "`warm` is not a number", ""),
    Mistake("nan", W, HEAD + "models: {actor: {temperature: ⇒nan}}\n", "models.actor.temperature", "`nan` is not a number", ""),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_it_is_reported_once_and_where_it_stands(mistake: Mistake, only_problem: Callable[[str, str], tuple[str, str, str]]) -> None:
    mistake.check(only_problem)
