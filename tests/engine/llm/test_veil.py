"""Keys that a server echoes are taken out, wherever pieces end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ProviderError
from engine.llm.remote.veil import Veil, keys_in
from engine.records.wire import RefereeReply
from tests.engine.llm.remote_models import forget_keys, remote, request
from tests.fake_behaviour import says
from tests.fake_server import FakeServer

TOLD = "Your key is Bearer hunter2-hunter2, keep it."
KEYS = ("aabaabaac", "hunter2-hunter2")
CUTS = st.lists(st.sampled_from(["aab", "aa", "b", "c", "hunter2", "-hunter2", "-", "x y", "a", "aabaabaac"]), max_size=12)


@given(CUTS)
def test_no_key_comes_through_and_nothing_else_is_lost(pieces: list[str]) -> None:
    veil = Veil(KEYS)
    said = "".join([*map(veil.add, pieces), veil.end()])
    assert not any(key in said for key in KEYS)
    text = "".join(pieces)
    if not any(key in text for key in KEYS):
        assert said == text


@given(CUTS)
def test_nothing_is_held_back_where_there_is_no_key(pieces: list[str]) -> None:
    assert list(map(Veil(()).add, pieces)) == pieces


def test_short_values_are_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", " none ")
    monkeypatch.setenv("B_KEY", "sk-12345678\n")
    assert keys_in(["A_KEY", "B_KEY", "C_KEY"]) == ("sk-12345678",)


async def test_a_server_that_echoes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_keys(monkeypatch)
    monkeypatch.setenv("MY_KEY", "hunter2-hunter2")
    async with FakeServer(models=("fake",)) as server:
        heard: list[str | None] = []
        for structured in (False, True):
            server.behave(says(TOLD, pieces=("Your key is Bearer hunt", "er2-hun", "ter2, keep it.")))
            asked = request(task="referee", response=RefereeReply) if structured else request()
            completion = await remote(server, key_env="MY_KEY").complete(asked, heard.append)
            assert completion.text == "Your key is Bearer \u2026, keep it."
        assert "hunter2-hunter2" not in "".join(piece or "" for piece in heard)
        assert "hunter2-hunter2" in server.requests[0].headers["authorization"]


@pytest.mark.parametrize(("key", "said"), [("sk-123\n45678", "a line break"), ("sk-12345678\u00e9", "a letter that no key has")])
async def test_a_key_that_was_pasted_badly_is_told_at_once(monkeypatch: pytest.MonkeyPatch, key: str, said: str) -> None:
    forget_keys(monkeypatch)
    monkeypatch.setenv("MY_KEY", key)
    async with FakeServer(models=("fake",)) as server:
        with pytest.raises(ProviderError, match=said) as caught:
            await remote(server, key_env="MY_KEY").complete(request())
        assert caught.value.trouble == "no_key"
        assert not server.requests
        assert key not in str(caught.value)
