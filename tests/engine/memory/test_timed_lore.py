"""Lore that is known for a time, that stays in a mind, and that rests there: what it does in the prompts of a real game."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.files.reader import read_world
from engine.game import Game
from engine.memory.lore import times
from engine.past import looking_into
from engine.records.authored import LoreItem

WORLD = """\
name: The inn
clock: {start: 1247-03-01T17:40}
seed: 1
places: [{id: bar, name: the bar}]
entities:
  - {id: bob, at: bar, agent: true, attributes: {name: Bob Harrow, label: the bald man}}
  - {id: mira, at: bar, agent: true, attributes: {name: Mira Vance, label: the thin woman}}
lore:
"""
START = datetime(1247, 3, 1, 17, 40)
GRAVE = "id: lo_grave, keys: [grave], stays: 2h, rests: 1d, text: Nobody lies in the third grave."


class Inn:
    """A game that can be put down for a while."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.save = folder / "inn", folder / "inn.db"
        self.game: Game

    async def begin(self, *lore: str) -> None:
        self.folder.mkdir()
        (self.folder / "world.yaml").write_text(WORLD + "".join(f"  - {{{item}}}\n" for item in lore))
        self.game = await Game.create(self.folder, self.save, 7)
        self.game.play_as("bob")

    async def later(self, span: timedelta) -> None:
        """Close it, let world time pass, open it again."""
        now = self.game.world.now + span
        await self.game.close()
        with closing(sqlite3.connect(self.save)) as conn, conn:
            conn.execute("UPDATE meta SET value = ? WHERE key = 'now'", (now.isoformat(timespec="seconds"),))
        self.game = await Game.open(self.save)
        self.game.play_as("bob")

    async def lore(self, entity: str) -> dict[str, str]:
        """The lore that an entity's next prompt has, with why."""
        prompt = await self.game.preview(entity)
        keys = {source for section in prompt.sections if section.key == "knowledge" for source in section.sources}
        return {one.source: one.reason for one in prompt.report.receipts if one.chosen and one.source in keys}

    async def calls(self) -> list[tuple[str, str, str]]:
        store = self.game._parts.store
        found = "SELECT owner_id, lore_id, called FROM lore_calls ORDER BY called, owner_id"
        return await store.db.read(lambda conn: conn.execute(found).fetchall())


@pytest.fixture
async def inn(tmp_path: Path) -> AsyncIterator[Inn]:
    one = Inn(tmp_path)
    yield one
    await one.game.close()


async def test_lore_stays_in_the_mind_that_it_came_to_and_then_rests_there(inn: Inn) -> None:
    await inn.begin(GRAVE)
    assert await inn.lore("mira") == {}
    await inn.game.step('"Who lies in the grave?"')  # Mira acts after him, with it in her prompt
    assert await inn.lore("mira") == {"lo_grave": "called up by grave"}
    [(owner, lore, called)] = await inn.calls()
    assert (owner, lore) == ("mira", "lo_grave")
    assert await inn.lore("mira") == {"lo_grave": "called up by grave"}, "looking is no use"
    assert await inn.calls() == [(owner, lore, called)]
    since = datetime.fromisoformat(called) - inn.game.world.now
    await inn.later(since + timedelta(hours=1, minutes=59))
    assert await inn.lore("mira") != {}, "it stays two hours"
    await inn.later(timedelta(minutes=1))
    assert await inn.lore("mira") == {}, "and then rests, though the grave is still talked of"
    assert await inn.lore("bob") == {"lo_grave": "called up by grave"}, "in her mind, not in his, to which it has not come"
    by_hand = await inn.game.memory.recall("mira", "Who lies in the third grave?")
    assert [one.source for one in by_hand.receipts if one.tier == "knowledge"] == ["lo_grave"], "a person who asks gets it all the same"
    await inn.later(timedelta(days=1))
    assert await inn.lore("mira") == {"lo_grave": "called up by grave"}


async def test_lore_stays_when_nothing_speaks_of_it_any_more(inn: Inn) -> None:
    await inn.begin(GRAVE, "id: lo_tide, keys: [tide], stays: 1h, text: The tide comes twice a day.")
    store, game = inn.game._parts.store, inn.game
    await store.db.write(lambda conn: store.lore.call(conn, "mira", ["lo_tide", "no lore"], game.world.now, 0))
    assert await inn.lore("mira") == {"lo_tide": "still in mind"}
    assert await inn.lore("bob") == {}
    await inn.later(timedelta(hours=1))
    assert await inn.lore("mira") == {}


async def test_what_is_always_told_rests_too_and_comes_by_itself(inn: Inn) -> None:
    await inn.begin("id: lo_bell, constant: true, rests: 6h, text: The bell wants oil.", "id: lo_debt, constant: true, text: Debts stay.")
    assert set(await inn.lore("mira")) == {"lo_bell", "lo_debt"}
    await inn.game.step()
    assert set(await inn.lore("mira")) == {"lo_debt"}
    assert {lore for _, lore, _ in await inn.calls()} == {"lo_bell"}, "what is not timed is not written down"
    await inn.later(timedelta(hours=6))
    assert set(await inn.lore("mira")) == {"lo_bell", "lo_debt"}


async def test_lore_is_known_from_a_time_and_until_one(inn: Inn) -> None:
    await inn.begin(
        "id: lo_fair, constant: true, from: +2d, until: 1247-03-05T00:00, text: The fair is in town.",
        "id: lo_lent, constant: true, until: +1h, text: The fast is not over.",
    )
    assert set(await inn.lore("bob")) == {"lo_lent"}
    await inn.later(timedelta(hours=1))
    assert await inn.lore("bob") == {}
    await inn.later(timedelta(days=2, hours=-1))
    assert set(await inn.lore("bob")) == {"lo_fair"}
    await inn.later(datetime(1247, 3, 5) - inn.game.world.now)
    assert await inn.lore("bob") == {}


async def test_an_earlier_round_knows_nothing_of_what_came_to_mind_later(inn: Inn) -> None:
    await inn.begin("id: lo_bell, constant: true, rests: 6h, text: The bell wants oil.")
    await inn.game.step()
    assert await inn.lore("mira") == {}
    async with looking_into(inn.save, 0) as (past, _):
        assert [one.source for one in (await past.preview("mira")).report.receipts] == ["lo_bell"]


def test_times_of_lore_are_read_as_written(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text(
        WORLD + "  - {id: a, text: A., stays: 2h30m, rests: 1w, from: 1247-03-02 08:00, until: +3d}\n  - {id: b, text: B.}\n"
    )
    first, second = read_world(tmp_path).lore
    assert (first.stays, first.rests) == (timedelta(hours=2.5), timedelta(weeks=1))
    assert (first.since, first.until) == (datetime(1247, 3, 2, 8), START + timedelta(days=3))
    assert (second.timed, second.since, second.until) == (False, None, None)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 1200))
def test_lore_that_came_to_a_mind_stays_first_and_then_rests(stays: int, rests: int, passed: int) -> None:
    item = LoreItem(id="x", text="x", stays=timedelta(minutes=stays), rests=timedelta(minutes=rests))
    found = times([item], {"x": START}, START + timedelta(minutes=passed)).get("x")
    assert found == ("stays" if passed < stays else "rests" if passed < stays + rests else None)
    assert times([item], {}, START) == {}
