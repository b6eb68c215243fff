"""A thread with an event loop of its own, in which litellm lives: it blocks, it is slow to import, it keeps tasks of its own."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import ParamSpec, TypeVar

from engine.errors import ModelError, OthermindsError
from engine.llm.remote.faults import Origin, explained, timed_out
from engine.llm.remote.library import Litellm, load_litellm

P = ParamSpec("P")
T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_FAREWELL = 0.5
"""Seconds that calls under way are given to end when the bridge is closed."""


class LitellmBridge:
    """Takes calls from any event loop to litellm's and their outcome back.

    The thread starts with the first call and never keeps the process alive. Use one bridge a process, `shared_bridge()`:
    litellm's settings and clients are the process's too.
    """

    def __init__(self, load: Callable[[], Litellm] = load_litellm) -> None:
        self._load = load
        self._library: Litellm | None = None
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def call(self, make: Callable[[Litellm], Awaitable[T]], origin: Origin, limit: float) -> T:
        """What the awaitable gives that `make` makes of litellm; both run in the thread. One attempt, `limit` seconds.

        The time of litellm's import does not count. Cancelling ends the call in the thread at once. Raises `ModelError`:
        the library's errors as `ProviderError`, told of `origin`; our own as they are.
        """
        library = await self._outcome(self._loaded(), None, origin)
        return await self._outcome(_awaited(make, library), limit, origin)

    @property
    def loaded(self) -> bool:
        """Whether litellm has been imported."""
        return self._library is not None

    def close(self) -> None:
        """End the thread and what runs in it; half a second at most unless litellm holds it, and then it is left behind.

        Calls under way fail with `ModelError`. A later call starts anew.
        """
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(2 * _FAREWELL)

    async def _loaded(self) -> Litellm:
        if self._library is None:
            self._library = self._load()
        return self._library

    async def _outcome(self, work: Coroutine[object, object, T], limit: float | None, origin: Origin) -> T:
        there = asyncio.run_coroutine_threadsafe(work, self._running())
        here = asyncio.wrap_future(there)
        try:
            await asyncio.wait({here}, timeout=limit)
            late = not here.done()
        finally:
            there.cancel()  # nothing happens when it is done; the thread's loop hears of it at once when not
        if late:
            raise timed_out(origin, limit or 0.0)
        if here.cancelled():
            raise ModelError(f"The call to {origin.model} was given up.", "The program is closing; try again when it is not.")
        error = here.exception()
        if isinstance(error, Exception) and not isinstance(error, OthermindsError):
            raise explained(error, origin) from error  # a library of this size may raise anything
        return here.result()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._loop.set_exception_handler(_unheard)
                self._loop.set_default_executor(_Daemons())
                self._thread = threading.Thread(target=_serve, args=(self._loop,), name="litellm", daemon=True)
                self._thread.start()
            return self._loop


@cache
def shared_bridge() -> LitellmBridge:
    """The bridge of this process."""
    return LitellmBridge()


async def _awaited(make: Callable[[Litellm], Awaitable[T]], library: Litellm) -> T:
    return await make(library)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=_FAREWELL))
    loop.close()


def _unheard(_loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """Errors of tasks that nobody waits for any more would be written to the terminal."""
    _LOG.debug("%s", context.get("message"))


class _Daemons(ThreadPoolExecutor):
    """Runs each piece of work in a daemon thread. A name look-up that hangs then does not hold up the end of the process."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """A future of `work`."""
        future: Future[T] = Future()
        threading.Thread(target=_work, args=(future, lambda: work(*args, **kwargs)), name="litellm-wait", daemon=True).start()
        return future


def _work(future: Future[T], work: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - handed to whoever waits
        future.set_exception(error)
