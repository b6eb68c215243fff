"""What a person or a program does with sessions, over a real game."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from engine.errors import CapReachedError, SaveError, SessionError
from engine.events import EngineEvent, SessionsChanged
from engine.game import Game
from engine.records.sessions import CollapsePolicy, CollapseRun, GateReport, Session
from engine.session_desk import LONGEST_TURN, MOST_KEYS
from engine.storage.store import Store

WORLD = """\
name: The inn
clock: {start: 1247-03-01T17:40}
seed: 1
policies: {sessions: {pairs: none, collapse: {max_turns: 9}, agents: {bob: {max_turns: 7}}}}
places: [{id: bar, name: the bar}]
entities:
  - {id: bob, at: bar, agent: true, attributes: {name: Bob Harrow, label: the bald man}, aliases: {en_2: Mira}}
  - {id: en_2, at: bar, agent: true, attributes: {name: Mira Vance, label: the thin woman}}
  - {id: th_key, at: bar, attributes: {label: the brass key}}
"""


@pytest.fixture
async def game(tmp_path: Path) -> AsyncIterator[Game]:
    (tmp_path / "inn").mkdir()
    (tmp_path / "inn" / "world.yaml").write_text(WORLD)
    opened = await Game.create(tmp_path / "inn", tmp_path / "inn.db")
    yield opened
    await opened.close()


@pytest.fixture
def told(game: Game) -> list[EngineEvent]:
    """What the game tells from now on."""
    events: list[EngineEvent] = []
    game.listen(events.append)
    return events


class Asked:
    """A collapser that only notes what it is asked for."""

    def __init__(self) -> None:
        self.sessions: list[str] = []

    def asked(self, session: str) -> None:
        """Note it."""
        self.sessions.append(session)

    def given_up(self, session: str) -> None:
        """Nothing is under way."""

    def grown(self, session: str) -> None:
        """Nothing."""

    async def over(self, session: str) -> CapReachedError | None:
        """It is at nothing."""
        return None


async def refused(kind: str, call: Awaitable[object], words: str = "") -> None:
    """The call is refused for this reason."""
    with pytest.raises(SessionError) as error:
        await call
    assert error.value.kind == kind
    assert words in str(error.value)


async def test_a_session_is_begun_filled_and_looked_at(game: Game, told: list[EngineEvent]) -> None:
    desk = game.sessions
    session = await desk.start("bob", "en_2")
    assert (session.status, session.policy.max_turns, session.started) == ("open", 7, game.world.now)
    words = await desk.add_turn(session.id, "actor", "  I owe\x1b[31m nobody.\r\n  ", hint=" about\nthe debt ")
    reply = await desk.add_turn(session.id, "agent", "So you say, {{e:bob}}.", pinned=True)
    assert (words.content, words.hint, words.speaker_id, words.source_id) == ("I owe nobody.", "about the debt", "en_2", None)
    assert (reply.content, reply.pinned, reply.speaker_id) == ("So you say, {e:bob}}.", True, "bob")
    assert await desk.turns(session.id) == [words, reply]
    now = await desk.get(session.id)
    assert await desk.list() == [now]
    assert (await desk.runs(session.id), await desk.episode(session.id)) == ([], [])
    report = await desk.report(session.id)
    assert (report.reason, report.turns, report.pinned, report.max_turns) == (None, 2, 1, 7)
    assert told == [SessionsChanged(session_ids=(session.id,))] * 3


async def test_a_policy_of_ones_own_stands_before_the_worlds(game: Game) -> None:
    assert (await game.sessions.start("bob", "en_2", CollapsePolicy(max_turns=4))).policy == CollapsePolicy(max_turns=4)
    assert (await game.sessions.start("en_2", "bob")).policy == CollapsePolicy(max_turns=9)
    assert (await game.sessions.start("bob", "th_key")).actor_id == "th_key"  # one may deal with a thing


async def test_people_in_a_remark_are_kept_as_who_they_are(game: Game) -> None:
    desk = game.sessions
    session = await desk.start("bob", "en_2")
    note = await desk.add_turn(session.id, "note", "Mira gave you @th_key\nand left.")
    assert note.content == "{{e:en_2}} gave {{e:bob}} {{e:th_key}} and left."
    assert note.speaker_id is None
    scratched = await desk.scratch(session.id, "hypothesis", "Mira Vance lies to you.")
    assert scratched.scratch == {"hypothesis": "{{e:en_2}} lies to {{e:bob}}."}


async def test_a_turn_is_pinned_and_let_go(game: Game) -> None:
    desk = game.sessions
    session, other = await desk.start("bob", "en_2"), await desk.start("en_2", "bob")
    turn = await desk.add_turn(session.id, "actor", "I owe nobody.")
    assert (await desk.pin(session.id, turn.id)).pinned
    assert (await desk.pin(session.id, turn.id)).pinned  # once more changes nothing
    assert (await desk.turns(session.id))[0].pinned
    assert not (await desk.pin(session.id, turn.id, on=False)).pinned
    assert not (await desk.turns(session.id))[0].pinned
    await refused("unknown_turn", desk.pin(other.id, turn.id))
    await refused("unknown_turn", desk.pin(session.id, "turn-000099\x1b[31m"), 'no turn "turn-000099"')


async def test_the_scratchpad_holds_notes_by_key(game: Game) -> None:
    desk = game.sessions
    session = await desk.start("bob", "en_2")
    await desk.scratch(session.id, "hypothesis", "she is the thief")
    await desk.scratch(session.id, " ruled out ", "the cook")
    now = await desk.scratch(session.id, "hypothesis", "she is a spy")
    assert now.scratch == {"hypothesis": "she is a spy", "ruled out": "the cook"}
    assert (await desk.scratch(session.id, "hypothesis", None)).scratch == {"ruled out": "the cook"}
    assert (await desk.scratch(session.id, "hypothesis", None)).scratch == {"ruled out": "the cook"}
    assert (await desk.get(session.id)).scratch == {"ruled out": "the cook"}
    for number in range(MOST_KEYS - 1):
        await desk.scratch(session.id, f"note {number}", "x")
    await refused("bad_key", desk.scratch(session.id, "one more", "x"), "40 notes")
    for key in ("", "{{e:bob}}", "[red]", "x" * 41, "en_2", "_"):
        await refused("bad_key", desk.scratch(session.id, key, "x"))
    for value in ("", " \n ", "...", "x" * 2001, "ask @nobody_here", "see led-000001"):
        await refused("bad_text", desk.scratch(session.id, "note 1", value))


async def test_a_persons_word_marks_it_and_the_collapser_is_told(game: Game, told: list[EngineEvent]) -> None:
    desk, asked = game.sessions, Asked()
    desk.collapser = asked
    session = await desk.start("bob", "en_2", CollapsePolicy(mode="explicit"))
    turn = await desk.add_turn(session.id, "actor", "I owe nobody.")
    told.clear()
    marked = await desk.collapse(session.id)
    assert (marked.status, marked.promotion_state, marked.asked) == ("collapsing", "pending", "explicit")
    assert (marked.ended, marked.ended_round) == (game.world.now, game.world.round)
    assert asked.sessions == [session.id]
    assert told == [SessionsChanged(session_ids=(session.id,))]
    assert (await desk.report(session.id)).reason == "explicit"
    assert await desk.collapse(session.id) == marked  # again changes nothing
    await refused("closed_session", desk.add_turn(session.id, "actor", "And another thing."), "is being collapsed")
    await refused("closed_session", desk.pin(session.id, turn.id))
    await refused("closed_session", desk.scratch(session.id, "hypothesis", "x"))
    await refused("already_open", desk.start("bob", "en_2"), session.id)


async def test_the_mark_outlives_the_process(game: Game, tmp_path: Path) -> None:
    session = await game.sessions.start("bob", "en_2")
    await game.sessions.collapse(session.id)
    await game.close()
    again = await Game.open(tmp_path / "inn.db", read_only=True)
    assert (await again.sessions.get(session.id)).asked == "explicit"
    await again.close()


async def test_what_is_discarded_is_over_until_it_is_taken_back(game: Game) -> None:
    desk = game.sessions
    session = await desk.start("bob", "en_2")
    turn = await desk.add_turn(session.id, "actor", "I owe nobody.")
    await desk.collapse(session.id)
    gone = await desk.discard(session.id)
    assert (gone.status, gone.asked) == ("discarded", None)
    for call in (desk.add_turn(session.id, "actor", "x"), desk.collapse(session.id), desk.discard(session.id)):
        await refused("closed_session", call, "is discarded")
    other = await desk.start("bob", "en_2")
    await refused("already_open", desk.reopen(session.id), other.id)
    await desk.discard(other.id)
    back = await desk.reopen(session.id)
    assert (back.status, back.promotion_state, back.ended) == ("open", "none", None)
    assert await desk.turns(session.id) == [turn]
    await refused("closed_session", desk.reopen(session.id), "is open")


async def test_what_there_is_not_is_told_by_kind(game: Game) -> None:
    desk, session = game.sessions, await game.sessions.start("bob", "en_2")
    calls: list[Callable[[str], Awaitable[object]]] = [
        desk.get, desk.turns, desk.runs, desk.episode, desk.report, desk.collapse, desk.discard, desk.reopen,
        lambda key: desk.add_turn(key, "actor", "x"), lambda key: desk.pin(key, "turn-000001"), lambda key: desk.scratch(key, "x", "x"),
    ]  # fmt: skip
    for call in calls:
        await refused("unknown_session", call("ses-000009\x1b]0;x\x07"), 'no session "ses-000009"')
    for pair in (("bob", "nobody"), ("nobody", "bob"), ("th_key", "bob"), ("bob", "bob")):
        await refused("unknown_entity", desk.start(*pair))
    for role in ("", "user", "Agent", "actor "):
        await refused("bad_role", desk.add_turn(session.id, role, "x"), "agent, actor, note")
    for text in ("", " \n\t", "\x1b[31m", "...", "x" * (LONGEST_TURN + 1)):
        for kind in ("actor", "note"):
            await refused("bad_text", desk.add_turn(session.id, kind, text))
    await refused("bad_text", desk.add_turn(session.id, "actor", "x", hint="y" * 201), "hint")
    await refused("bad_text", desk.add_turn(session.id, "note", "ask @nobody_here"))
    assert await desk.turns(session.id) == []
    assert len((await desk.add_turn(session.id, "note", "x " * (LONGEST_TURN // 2))).content) == LONGEST_TURN - 1


async def test_sessions_are_listed_by_agent_state_and_page(game: Game) -> None:
    desk = game.sessions
    made: list[Session] = []
    for _ in range(3):
        made.append(await desk.start("bob", "en_2"))
        await desk.discard(made[-1].id)
    made += [await desk.start("bob", "en_2"), await desk.start("en_2", "bob")]

    def keys(found: object) -> list[str]:
        assert isinstance(found, list)
        return [each.id for each in found]

    ids = [each.id for each in reversed(made)]
    assert keys(await desk.list()) == ids
    assert keys(await desk.list(agent="bob")) == ids[1:]
    assert keys(await desk.list("bob", "discarded")) == ids[2:]
    assert keys(await desk.list(status="open", actor="bob")) == ids[:1]
    assert keys(await desk.list("bob", limit=2)) == ids[1:3]
    assert keys(await desk.list("bob", limit=2, before=ids[2])) == ids[3:]


async def test_everything_by_hand_is_in_the_audit_trail(game: Game, tmp_path: Path) -> None:
    desk = game.sessions
    session = await desk.start("bob", "en_2")
    turn = await desk.add_turn(session.id, "actor", "I owe nobody.")
    await desk.pin(session.id, turn.id)
    await desk.scratch(session.id, "hypothesis", "she lies")
    await desk.scratch(session.id, "hypothesis", "she lies")  # no change, no row
    await desk.collapse(session.id)
    await desk.discard(session.id)
    await desk.reopen(session.id)
    await game.close()
    store = await Store.open(tmp_path / "inn.db", read_only=True)
    rows = await store.db.read(lambda conn: store.audit.find(conn, session=session.id))
    await store.close()
    assert {row.cause for row in rows} == {"hand"}
    assert [(row.action, row.before, row.after) for row in reversed(rows)] == [
        ("opened", "", ""), ("edited", "I owe nobody.", "I owe nobody."), ("edited", "", "hypothesis: she lies"),
        ("edited", "open", "collapsing"), ("discarded", "collapsing", "discarded"), ("restored", "discarded", "open"),
    ]  # fmt: skip


async def test_a_save_that_is_only_looked_into_is_not_written(game: Game, tmp_path: Path) -> None:
    session = await game.sessions.start("bob", "en_2")
    await game.close()
    again = await Game.open(tmp_path / "inn.db", read_only=True)
    with pytest.raises(SaveError, match="reading only"):
        await again.sessions.add_turn(session.id, "actor", "x")
    assert await again.sessions.turns(session.id) == []
    await again.close()


async def test_collapses_are_shown_with_failed_ones(game: Game, tmp_path: Path) -> None:
    session = await game.sessions.start("bob", "en_2")
    await game.close()
    store = await Store.open(tmp_path / "inn.db")
    gate = GateReport(asked=True, reason="asked for", turns=1)
    failed = CollapseRun(
        id="", session_id=session.id, agent_id="bob", part=0, partial=False, reason="explicit", round=0, timestamp=session.started,
        status="failed", gate=gate, error="no reply",
    )
    await store.db.write(lambda conn: store.sessions.add_run(conn, failed))
    await store.close()
    again = await Game.open(tmp_path / "inn.db", read_only=True)
    assert [(run.id, run.status, run.error) for run in await again.sessions.runs(session.id)] == [("col-000001", "failed", "no reply")]
    await again.close()


async def test_play_fills_what_the_world_says(tmp_path: Path) -> None:
    (tmp_path / "inn").mkdir()
    (tmp_path / "inn" / "world.yaml").write_text(WORLD.replace("pairs: none", "pairs: player"))
    game = await Game.create(tmp_path / "inn", tmp_path / "inn.db")
    game.play_as("en_2")
    await game.step('say to bald man: "Evening, landlord."')
    [session] = await game.sessions.list()
    assert (session.agent_id, session.actor_id, session.policy.max_turns) == ("bob", "en_2", 7)
    assert (await game.sessions.turns(session.id))[0].content == "Evening, landlord."
    await game.close()
