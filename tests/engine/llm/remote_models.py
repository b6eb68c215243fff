"""Models behind the real litellm and the fake server, for tests."""

import os
from collections.abc import Mapping
from typing import Any

import pytest

from engine.llm.protocol import ModelRequest
from engine.llm.remote.bridge import shared_bridge
from engine.llm.remote.model import RemoteModel
from engine.records.prompts import Message, Task
from engine.settings import EndpointSettings
from tests.fake_server import FakeServer

PROMPT = "You stand in the doorway of the inn. Gareth is by the fire. What do you do?"


def remote(server: FakeServer | None, model: str = "openai/fake", **settings: Any) -> RemoteModel:
    """The model at the server; at none, the model by its name alone."""
    if server is not None:
        settings.setdefault("api_base", server.root if model.startswith("ollama") else server.base)
    return RemoteModel(shared_bridge(), "endpoint", EndpointSettings(model=model, **settings))


def request(text: str = PROMPT, *, task: Task = "actor", choices: Mapping[str, tuple[str, ...]] | None = None, **more: Any) -> ModelRequest:
    messages = (Message(role="system", content="You are Mira."), Message(role="user", content=text))
    return ModelRequest(task=task, entity="mira", round=1, seed=7, messages=messages, choices=choices or {}, **more)


def forget_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider is set up in the environment."""
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL"))]:
        monkeypatch.delenv(name)
