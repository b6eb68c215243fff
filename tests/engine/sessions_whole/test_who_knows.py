"""Who reads what in their prompts: what is theirs, their factions', everybody's, and what they kept of factions left, by the query."""

import asyncio
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import KnowledgeChanged, PromotionCommitted
from engine.game import Game
from engine.storage import knowledge_queries

Open = Callable[..., Awaitable[Any]]

MINDS = ("ann", "bob", "cyd")
FACTIONS = ("harbour", "watch")
WORLD = """\
name: The quay
clock: {start: 1247-03-01T10:00}
seed: 1
policies: {sessions: {pairs: none}, lifecycle: {every_hours: 1000000}, promotion: {every_hours: 1000000}}
places: [{id: quay, name: the quay}]
entities:
  - {id: ann, at: quay, agent: true, attributes: {name: Ann Moss, label: the tall cook}}
  - {id: bob, at: quay, agent: true, attributes: {name: Bob Reed, label: the old porter}}
  - {id: cyd, at: quay, agent: true, attributes: {name: Cyd Marsh, label: the young groom}}
"""
THINGS = ("anchor", "barrel", "candle", "dagger", "easel", "fiddle", "goblet", "hammer", "inkwell", "jewel")
PIER = "keeps a boat at the north pier"
STEPS = st.one_of(
    st.tuples(st.just("learn"), st.sampled_from(MINDS), st.sampled_from([*MINDS, *FACTIONS, ""])),
    st.tuples(st.just("join"), st.sampled_from(MINDS), st.sampled_from(FACTIONS)),
    st.tuples(st.just("leave"), st.sampled_from(MINDS), st.sampled_from(FACTIONS)),
    st.tuples(st.just("delete"), st.integers(0, 9), st.just("")),
)


@dataclass
class Oracle:
    """Who knows what, by the words of the design."""

    factions: dict[str, set[str]] = field(default_factory=lambda: {mind: set() for mind in MINDS})
    held: dict[str, str] = field(default_factory=dict)
    """Whose each piece is."""
    kept: dict[str, set[str]] = field(default_factory=lambda: {mind: set() for mind in MINDS})

    learned: int = 0

    def knows(self, mind: str) -> set[str]:
        """All that a mind knows."""
        mine = {key for key, holder in self.held.items() if holder in ("", mind) or holder in self.factions[mind]}
        return mine | {key for key in self.kept[mind] if key in self.held}


@settings(max_examples=5)
@given(st.lists(STEPS, min_size=6, max_size=16))
def test_each_prompt_holds_what_its_owner_may_know_and_the_query_finds_no_more(steps: Sequence[tuple[str, Any, str]]) -> None:
    asyncio.run(_walk(steps))


async def _walk(steps: Sequence[tuple[str, Any, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "world.yaml").write_text(WORLD)
        game = await Game.create(folder, Path(folder) / "game.db", 7)
        try:
            oracle = Oracle()
            for step in steps:
                await _do(game, oracle, *step)
            for mind in MINDS:
                await _check(game, oracle, mind)
        finally:
            await game.close()


async def _do(game: Game, oracle: Oracle, what: str, who: Any, whose: str) -> None:
    match what:
        case "learn" if oracle.learned < len(THINGS):
            if whose in FACTIONS and not any(whose in found for found in oracle.factions.values()):
                return
            scope = "world" if not whose else "faction" if whose in FACTIONS else "entity"
            thing = THINGS[oracle.learned]
            oracle.learned += 1
            owner = whose if scope == "entity" else who
            row = await game.knowledge.add(owner, f"The {thing} is hidden.", scope=scope, scope_id=whose)  # type: ignore[arg-type]
            oracle.held[row.id] = whose
        case "join" | "leave":
            left = whose in oracle.factions[who] and what == "leave"
            oracle.factions[who] = oracle.factions[who] - {whose} if what == "leave" else oracle.factions[who] | {whose}
            await game.knowledge.set_factions(who, sorted(oracle.factions[who]))
            if left:
                oracle.kept[who] |= {key for key, holder in oracle.held.items() if holder == whose}
        case "delete" if who < len(oracle.held):
            key = sorted(oracle.held)[who]
            await game.knowledge.delete(key)
            del oracle.held[key]


async def _check(game: Game, oracle: Oracle, mind: str) -> None:
    expected = oracle.knows(mind)
    told = {line.row.id: line.text for line in await game.knowledge.known_by(mind)}
    assert set(told) == expected

    def raw(conn: sqlite3.Connection) -> set[str]:
        sql, values = knowledge_queries.held_by(mind, sorted(oracle.factions[mind]), ("hot", "warm", "cold", "archived"), None, "", None)
        return {row[1] for row in conn.execute(sql, values)}

    assert await game._parts.store.db.read(raw) == expected, "nothing is left for a filter behind the query"
    prompt = (await game.preview(mind)).text
    for thing in THINGS:
        assert (thing in prompt) <= any(thing in text for text in told.values()), f"{mind} reads of the {thing}"


async def test_a_faction_learns_by_schedule_and_its_members_only(table: Open, made: Any) -> None:
    at = await table("{pairs: all, collapse: {min_turns: 1}}", more="  promotion: {every_hours: 6, age_hours: 2, scope: faction}\n")
    await at.say("en_mira", "I keep a boat at the north pier.", to="Bob", verb="whisper")
    at.voices.script["collapse"] = [made.reply(made.fact("P2 keeps a boat at the north pier.", "M1", about="P2"))]
    assert (await at.collapse("en_bob", "en_mira")).added == 1
    assert PIER not in (await at.game.preview("en_odo")).text
    at.later(7)
    at.game.play_as(None)
    await at.game.step()  # nobody asks for it: it is time
    await at.game.settled()
    [run] = [event.run for event in at.events if isinstance(event, PromotionCommitted)]
    assert len(run.promoted) == 1
    assert any(isinstance(event, KnowledgeChanged) for event in at.events)
    told = {key: PIER in (await at.game.preview(key)).text for key in at.game.world.entities}
    assert {key for key, found in told.items() if found} - {"en_mira"} == {"en_bob", "en_odo"}
    await at.game.knowledge.set_factions("en_gareth", ["harbour"])
    assert PIER in (await at.game.preview("en_gareth")).text
    await at.game.knowledge.set_factions("en_odo", [])
    assert PIER in (await at.game.preview("en_odo")).text
    await at.game.knowledge.reverse(run.promoted[0])
    assert PIER not in (await at.game.preview("en_gareth")).text
    assert PIER in (await at.game.preview("en_bob")).text


async def test_what_is_not_used_sinks_a_tier_at_a_time_in_play_and_use_lifts_it(table: Open) -> None:
    at = await table(more="  lifecycle: {every_hours: 24}\n  promotion: {every_hours: 100000}\n")
    idle = await at.game.knowledge.add("en_bob", "The well in the far valley is dry.", importance=1, confidence=0.3)
    pinned = await at.game.knowledge.add("en_bob", "The key of the tower is lost.", importance=1, confidence=0.3, pinned=True)
    tiers = []
    for _ in range(5):
        at.later(24 * 40)
        at.game.play_as(None)
        await at.game.step()
        await at.game.settled()
        tiers.append((await at.game.knowledge.get(idle.id)).row.tier)
    order = ["hot", "warm", "cold", "archived"]
    assert tiers[-1] == "archived"
    places = [order.index(tier) for tier in ["hot", *tiers]]
    assert all(0 <= after - before <= 1 for before, after in pairwise(places)), tiers
    assert (await at.game.knowledge.get(pinned.id)).row.tier == "hot"
    assert "well in the far valley" not in (await at.game.preview("en_bob")).text
    demoted = await at.game.knowledge.audit(knowledge=idle.id, actions=["demoted"])
    assert len(demoted) == 3
    back = await at.game.knowledge.restore(idle.id)
    assert back.tier != "archived"
