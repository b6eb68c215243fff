"""Whatever is done to a save in whatever order: each moment of it comes back row for row, backwards and forwards, over restarts."""

import asyncio
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from engine.errors import OthermindsError
from engine.game import Game
from engine.knowledge_desk import KnowledgeEdit
from engine.records.review import MemoryEdit
from engine.records.sessions import CollapsePolicy
from tests.engine.behind import a_world
from tests.engine.storage.whole import everything, sound

T = TypeVar("T")
Rows = dict[str, list[tuple[object, ...]]]
MINDS = ("ada_finch", "bo_reed", "cyd_marsh")
number = st.integers(0, 1000)


def pick(among: Sequence[T], n: int) -> T:
    return among[n % len(among)]


class Histories(RuleBasedStateMachine):
    """A game that is played, changed by hand, taken back, brought again and opened anew. By number of the newest change it knows all rows
    of that moment."""

    made: Path
    """A save just begun."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = TemporaryDirectory()
        self.path = Path(shutil.copy(self.made, Path(self.folder.name) / "a.db"))
        self.moments: dict[int, Rows] = {}
        self.said = 0

    @initialize()
    def begin(self) -> None:
        self.game = self.run(Game.open(self.path))
        self.check()
        self.start = self.rows()

    # the ways of all these

    def run(self, work: Awaitable[T]) -> T:
        async def whole() -> T:
            return await work

        return self.loop.run_until_complete(whole())

    def do(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do a thing. What cannot be done changes nothing."""

        async def whole() -> None:
            with suppress(OthermindsError):
                await work()
            await self.game.settled()

        self.loop.run_until_complete(whole())
        self.check()

    def rows(self) -> Rows:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as conn:
            return everything(conn)

    def check(self) -> None:
        done = self.run(self.game.history.done(1))
        newest, rows = done[0].changes[-1].seq if done else 0, self.rows()
        assert rows == self.moments.setdefault(newest, rows)

    def word(self) -> str:
        self.said += 1
        return f"{pick(('heron', 'anchor', 'candle', 'ledger', 'bridge'), self.said)} {self.said}"

    # playing

    @rule()
    def play(self) -> None:
        self.do(self.game.step)

    @rule()
    def play_again(self) -> None:
        self.do(self.game.step)

    @rule(n=number)
    def speak(self, n: int) -> None:
        self.game.play_as(pick(MINDS, n))
        self.do(lambda: self.game.step(f'"I saw a {self.word()} at the mill."' if n % 3 else "look"))
        self.game.play_as(None)

    # by hand

    @rule(n=number, m=number, on=st.booleans())
    def pin(self, n: int, m: int, on: bool) -> None:
        async def work() -> None:
            parts = (await self.game.buffer(pick(MINDS, n))).partition
            await self.game.set_pin(pick([*parts.held, *parts.candidates, *parts.tail], m).id, on)

        self.do(work)

    @rule(n=number, m=number, text=st.sampled_from(["", "Master Reed", "Old Grey", "the tall one"]))
    def name(self, n: int, m: int, text: str) -> None:
        self.do(lambda: self.game.set_alias(pick(MINDS, n), pick(MINDS, m), text))

    @rule(n=number, m=number, what=st.sampled_from(["add", "edit", "remove", "merge", "restore", "restore event", "weigh"]))
    def memory(self, n: int, m: int, what: str) -> None:
        async def work() -> None:
            desk, owner = self.game.memory, pick(MINDS, n)
            ledger = [line.entry.id for line in await self.game.ledger(owner)]
            match what:
                case "add":
                    await desk.add_memory(owner, f"{{{{e:{owner}}}}} found the {self.word()}.", importance=1 + m % 10)
                case "edit" if ledger:
                    await desk.edit_memory(pick(ledger, m), MemoryEdit(content=f"{{{{e:{owner}}}}} lost the {self.word()}."))
                case "weigh" if ledger:
                    await desk.edit_memory(pick(ledger, m), MemoryEdit(importance=1 + m % 10))
                case "remove" if ledger:
                    await desk.remove_memory(pick(ledger, m))
                case "merge" if ledger:
                    await desk.merge(pick(ledger, m), pick(ledger, n))
                case "restore" if gone := await desk.archived_memories(owner):
                    await desk.restore_memory(pick(gone, m).memory.entry.id)
                case "restore event" if left := await desk.archive(owner):
                    await desk.restore(pick(left, m).entry.id, pin=bool(m % 2))

        self.do(work)

    @rule(n=number, m=number, what=st.sampled_from(["add", "add", "edit", "delete", "restore", "widen", "narrow", "reverse", "promote"]))
    def knowledge(self, n: int, m: int, what: str) -> None:
        async def work() -> None:
            desk, owner = self.game.knowledge, pick(MINDS, n)
            keys = [line.row.id for line in await desk.list(holding=None)]
            match what:
                case "add":
                    await desk.add(owner, f"{{{{e:{owner}}}}} keeps the {self.word()}.", confidence=1 / (1 + m), topic=f"topic {m % 4}")
                case "promote":
                    await desk.promote_now()
                case _ if not keys:
                    return
                case "edit":
                    await desk.edit(pick(keys, m), KnowledgeEdit(content=f"{{{{e:{owner}}}}} sold the {self.word()}.", pinned=bool(m % 2)))
                case "delete":
                    await desk.delete(pick(keys, m))
                case "restore":
                    await desk.restore(f"kno-{1 + m % 12:06d}")
                case "widen":
                    await desk.rescope(pick(keys, m), *(("world", "") if n % 2 else ("faction", "porters")))
                case "narrow":
                    await desk.narrow(pick(keys, m))
                case "reverse":
                    await desk.reverse(pick(keys, m))

        self.do(work)

    @rule(n=number, names=st.lists(st.sampled_from(["porters", "grooms"]), unique=True))
    def factions(self, n: int, names: list[str]) -> None:
        self.do(lambda: self.game.knowledge.set_factions(pick(MINDS, n), names))

    @rule(n=number, m=number, what=st.sampled_from(["start", "turn", "turn", "turn", "pin", "scratch", "collapse", "discard", "reopen"]))
    def session(self, n: int, m: int, what: str) -> None:
        async def work() -> None:
            desk = self.game.sessions
            if what == "start":
                await desk.start(pick(MINDS, n), pick(MINDS, m), CollapsePolicy(mode="explicit"))
                return
            wanted = "discarded" if what == "reopen" else "open"
            found = await desk.list(status=wanted)  # type: ignore[arg-type]
            if not found:
                return
            key = pick(found, n).id
            turns = await desk.turns(key)
            match what:
                case "turn":
                    words = f"I sold the {self.word()} to the miller."
                    await desk.add_turn(key, pick(("agent", "actor", "note"), m), words, pinned=m % 2 == 0)
                case "pin" if turns:
                    await desk.pin(key, pick(turns, m).id, on=bool(m % 3))
                case "scratch":
                    await desk.scratch(key, f"note {m % 3}", self.word() if m % 4 else None)
                case "collapse":
                    await desk.collapse(key)
                case "discard":
                    await desk.discard(key)
                case "reopen":
                    await desk.reopen(key)

        self.do(work)

    @rule(n=number, m=number, what=st.sampled_from(["ask", "ask", "auto", "judge", "judge", "finish", "reject", "reroll"]))
    def review(self, n: int, m: int, what: str) -> None:
        async def work() -> None:
            desk = self.game.memory
            if what in ("ask", "auto"):
                await desk.set_review("ask" if what == "ask" else "auto")
                return
            waiting = await desk.pending()
            if not waiting:
                return
            owner = pick(waiting, n).proposal.owner_id
            match what:
                case "judge":
                    for index in range(len(pick(waiting, n).proposal.chunks)):
                        await desk.judge(owner, index, "accepted" if (m + index) % 3 else "rejected")
                case "finish":
                    await desk.finish(owner)
                case "reject":
                    await desk.reject(owner)
                case "reroll":
                    await desk.reroll(owner)

        self.do(work)

    # back and forth

    @rule(n=st.integers(1, 12))
    def undo(self, n: int) -> None:
        self.do(lambda: self.game.history.undo(n))

    @rule(n=st.integers(1, 12))
    def redo(self, n: int) -> None:
        self.do(lambda: self.game.history.redo(n))

    @rule(n=number)
    def undo_rounds(self, n: int) -> None:
        self.do(lambda: self.game.history.undo(to_round=max(0, self.game.world.round - 1 - n % 2)))

    @rule()
    def restart(self) -> None:
        self.run(self.game.close())
        self.game = self.run(Game.open(self.path))
        self.do(self.game.settled)

    def teardown(self) -> None:
        """To the beginning and back to the end."""
        try:
            if hasattr(self, "start"):
                history = self.game.history
                self.do(lambda: history.redo(100_000))
                end = self.rows()
                self.do(lambda: history.undo(100_000))
                assert self.rows() == self.start
                self.do(lambda: history.redo(100_000))
                assert self.rows() == end
        finally:
            if hasattr(self, "game"):
                self.run(self.game.close())
                with closing(sqlite3.connect(self.path, isolation_level=None)) as conn:
                    sound(conn)
            self.loop.close()
            self.folder.cleanup()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> type[Histories]:
    folder = tmp_path_factory.mktemp("made")

    async def make() -> None:
        await (await Game.create(a_world(folder / "house"), folder / "a.db", 7)).close()

    asyncio.run(make())
    return type("Histories", (Histories,), {"made": folder / "a.db"})


def anything(one: Histories, dice: Random) -> None:
    """Do something by chance."""
    n, m = dice.randrange(1000), dice.randrange(1000)
    ways: list[Callable[[], None]] = [
        one.play, one.play_again, one.restart, lambda: one.speak(n=n), lambda: one.undo(n=1 + n % 12), lambda: one.redo(n=1 + n % 12),
        lambda: one.undo_rounds(n=n), lambda: one.pin(n=n, m=m, on=m % 3 > 0),
        lambda: one.factions(n=n, names=["porters", "grooms"][m % 3 :]),
        lambda: one.name(n=n, m=m, text=pick(("", "Master Reed", "Old Grey", "the tall one"), m)),
        *(lambda what=what: one.memory(n=n, m=m, what=what) for what in ("add", "edit", "remove", "merge", "restore", "restore event")),
        *(lambda what=what: one.knowledge(n=n, m=m, what=what) for what in ("add", "add", "edit", "delete", "restore", "widen", "reverse")),
        *(lambda what=what: one.session(n=n, m=m, what=what) for what in ("start", "turn", "turn", "pin", "collapse", "discard")),
        *(lambda what=what: one.review(n=n, m=m, what=what) for what in ("ask", "judge", "finish", "reject", "auto")),
    ]  # fmt: skip
    dice.choice(ways)()


def test_each_moment_comes_back(machine: type[Histories]) -> None:
    one, dice = machine(), Random(5)
    try:
        one.begin()
        for _ in range(30):
            anything(one, dice)
        assert len(one.moments) > 10
    finally:
        one.teardown()


@pytest.mark.slow
def test_each_moment_comes_back_over_hundreds_of_changes(machine: type[Histories]) -> None:
    calm = settings(suppress_health_check=list(HealthCheck), phases=[Phase.generate], derandomize=True, deadline=None)
    run_state_machine_as_test(machine, settings=settings(calm, max_examples=11, stateful_step_count=30))
