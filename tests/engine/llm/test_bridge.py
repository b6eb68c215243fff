"""The thread that litellm lives in: outcomes, time limits, giving up, the end; and what the library is set to."""

import asyncio
import gc
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import CommandError, ModelError, ProviderError
from engine.llm.remote.bridge import LitellmBridge, shared_bridge
from engine.llm.remote.faults import Origin, explained
from engine.llm.remote.library import Litellm, load_litellm

ROOT = Path(__file__).parents[3]
ORIGIN = Origin("some/model", None, "choose another")


def library_of_tests() -> Litellm:
    """Stands for litellm, which the bridge itself asks for nothing."""
    return cast(Litellm, object())


@pytest.fixture
def bridge() -> Iterator[LitellmBridge]:
    made = LitellmBridge(library_of_tests)
    yield made
    made.close()


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "litellm"]


async def test_a_call_runs_in_a_thread_of_its_own_with_one_library(bridge: LitellmBridge) -> None:
    async def seen(library: Litellm) -> tuple[threading.Thread, Litellm]:
        await asyncio.sleep(0)
        return threading.current_thread(), library

    outcomes = await asyncio.gather(*(bridge.call(seen, ORIGIN, 30.0) for _ in range(20)))
    assert len({thread for thread, _ in outcomes}) == 1
    assert len({id(library) for _, library in outcomes}) == 1
    assert threading.current_thread() is not outcomes[0][0]
    assert outcomes[0][0].daemon


async def test_calls_run_side_by_side(bridge: LitellmBridge) -> None:
    met = asyncio.Barrier(3)

    async def meet(_: Litellm) -> bool:
        await met.wait()
        return True

    assert await asyncio.gather(*(bridge.call(meet, ORIGIN, 30.0) for _ in range(3))) == [True] * 3


def test_one_bridge_serves_several_loops(bridge: LitellmBridge) -> None:
    async def answer(_: Litellm) -> int:
        return 42

    async def ask() -> int:
        return await bridge.call(answer, ORIGIN, 30.0)

    assert [asyncio.run(ask()) for _ in range(3)] == [42] * 3
    assert shared_bridge() is shared_bridge()


@pytest.mark.parametrize("raised", [KeyError("embeddings"), RuntimeError("odd"), ExceptionGroup("two", [ValueError()])])
async def test_whatever_the_library_raises_becomes_an_error_for_people(bridge: LitellmBridge, raised: Exception) -> None:
    async def fail(_: Litellm) -> None:
        raise raised

    with pytest.raises(ProviderError, match="some/model") as caught:
        await bridge.call(fail, ORIGIN, 30.0)
    assert caught.value.__cause__ is raised


async def test_our_own_errors_come_back_as_they_are(bridge: LitellmBridge) -> None:
    async def fail(_: Litellm) -> None:
        raise CommandError("ours")

    with pytest.raises(CommandError, match="ours"):
        await bridge.call(fail, ORIGIN, 30.0)


def held() -> tuple[Callable[[Litellm], Awaitable[None]], threading.Event, threading.Event]:
    """A call that does not end by itself, with an event for its begin and one for its being cancelled."""
    begun, cancelled = threading.Event(), threading.Event()

    async def wait(_: Litellm) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    return wait, begun, cancelled


async def test_the_time_limit_ends_the_call_in_the_thread(bridge: LitellmBridge) -> None:
    wait, _, cancelled = held()
    with pytest.raises(ProviderError, match=r"some/model did not answer within 0\.05 s") as caught:
        await bridge.call(wait, ORIGIN, 0.05)
    assert caught.value.trouble == "timed_out"
    assert await asyncio.to_thread(cancelled.wait, 20)


async def test_the_time_limit_holds_when_the_library_blocks_its_thread(bridge: LitellmBridge) -> None:
    let_go = threading.Event()

    async def block(_: Litellm) -> None:
        let_go.wait(30)

    with pytest.raises(ProviderError) as caught:
        await bridge.call(block, ORIGIN, 0.05)
    assert caught.value.trouble == "timed_out"
    let_go.set()


async def test_cancelling_ends_the_call_in_the_thread(bridge: LitellmBridge) -> None:
    wait, begun, cancelled = held()
    work = asyncio.create_task(bridge.call(wait, ORIGIN, 30.0))
    assert await asyncio.to_thread(begun.wait, 20)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert await asyncio.to_thread(cancelled.wait, 20)


def test_cancelling_as_the_callers_loop_ends_reaches_the_thread(bridge: LitellmBridge) -> None:
    wait, begun, cancelled = held()

    async def leave() -> None:
        asyncio.create_task(bridge.call(wait, ORIGIN, 30.0))  # noqa: RUF006 - left alone on purpose
        await asyncio.to_thread(begun.wait, 20)

    asyncio.run(leave())
    assert cancelled.wait(20)


async def test_what_the_library_cancels_itself_is_no_cancelling_of_ours(bridge: LitellmBridge) -> None:
    async def cancelled(_: Litellm) -> None:
        raise asyncio.CancelledError

    with pytest.raises(ModelError, match="given up"):
        await bridge.call(cancelled, ORIGIN, 30.0)


async def test_closing_fails_what_is_under_way_ends_the_thread_and_can_be_begun_again() -> None:
    before = set(threads())
    bridge = LitellmBridge(library_of_tests)
    wait, begun, cancelled = held()
    work = asyncio.create_task(bridge.call(wait, ORIGIN, 30.0))
    assert await asyncio.to_thread(begun.wait, 20)
    await asyncio.to_thread(bridge.close)
    with pytest.raises(ModelError, match="given up"):
        await work
    assert cancelled.is_set()
    assert set(threads()) == before

    async def answer(_: Litellm) -> int:
        return 42

    assert await bridge.call(answer, ORIGIN, 30.0) == 42
    bridge.close()
    bridge.close()
    assert set(threads()) == before


async def test_a_library_that_cannot_be_loaded_is_told_and_tried_again() -> None:
    tries = []

    def load() -> Litellm:
        tries.append(1)
        if len(tries) == 1:
            raise ModelError("The package litellm cannot be loaded.")
        return library_of_tests()

    async def answer(_: Litellm) -> int:
        return 42

    bridge = LitellmBridge(load)
    with pytest.raises(ModelError, match="cannot be loaded"):
        await bridge.call(answer, ORIGIN, 30.0)
    assert await bridge.call(answer, ORIGIN, 30.0) == 42
    bridge.close()


def test_the_library_is_set_to_write_nothing_and_to_try_once() -> None:
    library = load_litellm()
    told = {name: getattr(library, name) for name in ("suppress_debug_info", "disable_hf_tokenizer_download", "DEFAULT_MAX_RETRIES")}
    assert told == {"suppress_debug_info": True, "disable_hf_tokenizer_download": True, "DEFAULT_MAX_RETRIES": 0}
    assert {name: os.environ[f"LITELLM_{name}"] for name in ("LOCAL_MODEL_COST_MAP", "MODE", "LOG")} == {
        "LOCAL_MODEL_COST_MAP": "True", "MODE": "PRODUCTION", "LOG": "CRITICAL",
    }
    assert not logging.getLogger("LiteLLM").propagate
    assert gc.isenabled()


def test_no_startup_hook_comes_with_litellm() -> None:
    """Two releases of March 2026 carried a `.pth` file that stole keys at every start of the interpreter."""
    files = distribution("litellm").files
    assert files
    assert not [file for file in files if file.suffix == ".pth"]
    assert not [path for path in Path(str(distribution("litellm").locate_file(""))).glob("*.pth") if "litellm" in path.name]


def test_a_process_ends_though_the_thread_is_blocked_and_a_name_is_being_looked_up(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("LEAKED=yes\n")
    code = """
import asyncio, os, time
from engine.llm.remote.bridge import shared_bridge
from engine.llm.remote.faults import Origin
async def look_up(litellm):
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 300)
    await asyncio.sleep(0.05)
async def block(litellm):
    time.sleep(300)
async def main():
    bridge = shared_bridge()
    await bridge.call(look_up, Origin("m"), 60)
    asyncio.create_task(bridge.call(block, Origin("m"), 300))
    await asyncio.sleep(0.05)
    print(os.environ.get("LEAKED"))
asyncio.run(main())
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100, cwd=tmp_path, env=env)
    assert (done.stdout, done.stderr) == ("None\n", "")


@given(text=st.text(max_size=400))
def test_a_providers_words_are_one_line_and_bounded(text: str) -> None:
    said = str(explained(RuntimeError(text), ORIGIN))
    assert "\n" not in said
    assert "\x1b" not in said
    assert len(said) < 500


def test_keys_never_stand_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD_API_KEY", "abc/def+ghi12345")
    said = str(explained(RuntimeError("key abc/def+ghi12345 and sk-proj-12345678abcd and AIzaSyA1234567890 are bad"), ORIGIN))
    assert "abc/def" not in said
    assert "sk-proj" not in said
    assert "AIza" not in said


def test_a_ring_of_causes_is_followed_only_so_far() -> None:
    one, two = RuntimeError("one"), RuntimeError("two")
    one.__cause__, two.__cause__ = two, one
    assert explained(one, ORIGIN).trouble == "bad_output"
