"""How sessions fill by play: who gets which turn of what is said and done, in scenes."""

import sqlite3
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.sessions.filling import Filling
from engine.records.intents import Intent
from engine.records.sessions import CollapsePolicy, CollapseRun, GateReport, SessionCollapseSummary, SessionPolicy
from engine.storage.knowledge_audit import Change
from engine.turns.beat import plan, write
from engine.turns.referee import Referee

if TYPE_CHECKING:
    from tests.engine.memory.sessions.conftest import Begin


async def test_words_to_somebody_open_both_sides_and_go_to_each(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "The mill is sold.", "bo")
    await scene.say("bo", "To whom?", "ada")
    assert await scene.told() == {
        ("ada", "bo"): ["agent: The mill is sold.", "actor: To whom?"], ("bo", "ada"): ["actor: The mill is sold.", "agent: To whom?"],
    }  # fmt: skip
    mine, theirs = (await scene.sessions())["ada", "bo"], (await scene.sessions())["bo", "ada"]
    assert mine.id != theirs.id
    assert mine.last_turn_at == mine.started + timedelta(minutes=1)


async def test_a_turn_says_when_in_which_round_by_whom_and_from_which_event(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "The mill is sold.", "bo")
    for agent, actor, role in (("ada", "bo", "agent"), ("bo", "ada", "actor")):
        [turn] = await scene.turns(agent, actor)
        entries = await scene.store.db.read(lambda conn, who=agent: scene.store.buffer.of_owner(conn, who))  # type: ignore[misc]
        assert (turn.role, turn.speaker_id, turn.source_id) == (role, "ada", entries[-1].id)
        assert (turn.timestamp, turn.round) == (entries[-1].timestamp, 1)
        assert not turn.pinned


async def test_words_to_nobody_in_particular_are_for_all_who_understand_them(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "Supper!")
    assert await scene.told() == {
        ("bo", "ada"): ["actor: Supper!"], ("dee", "ada"): ["actor: Supper!"], ("cyd", "ada"): ["actor: Supper!"],
        ("ada", "bo"): ["agent: Supper!"], ("ada", "dee"): ["agent: Supper!"], ("ada", "cyd"): ["agent: Supper!"],
    }  # fmt: skip


async def test_who_speaks_to_a_thing_speaks_to_nobody_in_particular(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("dee", "Where have you been?", "key")
    assert set(await scene.sessions()) == {pair for who in ("ada", "bo", "cyd") for pair in ((who, "dee"), ("dee", who))}


async def test_what_is_overheard_joins_an_open_session_only_and_says_that_it_was_for_another(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "The mill is sold.", "bo")
    assert ("dee", "ada") not in await scene.sessions()
    await scene.say("ada", "Good morning.", "dee")
    await scene.say("ada", "To the Duke.", "bo")
    told = await scene.told()
    assert told["dee", "ada"] == ["actor: Good morning.", "actor: To the Duke. (to another)"]
    assert told["ada", "dee"] == ["agent: Good morning."]  # what she says to Bo is no dealing of hers with Dee
    assert told["bo", "ada"] == ["actor: The mill is sold.", "actor: Good morning. (to another)", "actor: To the Duke."]


async def test_words_to_two_go_to_both_and_to_the_speakers_session_with_each(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "Come, both of you.", "bo", "dee")
    told = await scene.told()
    assert told == {
        ("bo", "ada"): ["actor: Come, both of you."], ("dee", "ada"): ["actor: Come, both of you."],
        ("ada", "bo"): ["agent: Come, both of you."], ("ada", "dee"): ["agent: Come, both of you."],
    }  # fmt: skip
    await scene.say("bo", "I come.")
    told = await scene.told()
    assert (told["ada", "bo"][-1], told["dee", "bo"], told["bo", "dee"]) == ("actor: I come.", ["actor: I come."], ["agent: I come."])


async def test_a_whisper_reaches_whom_it_is_for(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "Hello, all.")
    await scene.say("ada", "He has the coin.", "bo", verb="whisper")
    told = await scene.told()
    assert told["bo", "ada"] == ["actor: Hello, all.", "actor: He has the coin."]
    assert told["dee", "ada"] == ["actor: Hello, all."]  # she sees the whispering
    assert told["ada", "bo"][-1] == "agent: He has the coin."
    assert told["ada", "dee"] == ["agent: Hello, all."]


async def test_murmurs_through_a_door_make_no_turn_and_a_shout_does(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "Good morning.", "bo")
    assert not [pair for pair in await scene.sessions() if "eve" in pair]
    heard = await scene.store.db.read(lambda conn: scene.store.buffer.of_owner(conn, "eve"))
    assert [entry.grasp for entry in heard] == ["faint"]
    await scene.say("ada", "Fire!", verb="shout")
    told = await scene.told()
    assert (told["eve", "ada"], told["ada", "eve"]) == (["actor: Fire!"], ["agent: Fire!"])
    await scene.say("ada", "Where is the water?", "bo")  # once they talk, a murmur is still none of it
    assert (await scene.told())["eve", "ada"] == ["actor: Fire!"]


async def test_who_does_not_hear_what_is_said_to_them_has_no_turn_and_the_speaker_none_with_them(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "Wake up.", "fay")
    await scene.say("bo", "Eve, come here.", "eve")
    assert not await scene.sessions()


async def test_thoughts_make_no_turn(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "Good morning.", "bo")
    await scene.act(Intent(type="monologue", verb="think", text="Bo lies.", actor="ada", targets=("bo",)))
    assert (await scene.told())["ada", "bo"] == ["agent: Good morning."]


async def test_what_is_done_to_somebody_is_a_remark_in_the_sessions_of_the_two(begin: "Begin") -> None:
    scene = await begin()
    await scene.do("ada", "gave {{e:key}} to {{e:bo}}", "key", "bo", verb="give")
    assert not await scene.sessions()  # a gift opens none
    await scene.say("bo", "Thank you.", "ada")
    await scene.say("dee", "Good morning.", "bo")
    await scene.do("bo", "gave {{e:key}} to {{e:ada}}", "key", "ada", verb="give")
    await scene.do("bo", "gave {{e:key}} to {{e:ada}}", "key", "ada", verb="give")  # he has it no longer
    await scene.do("bo", "looked at {{e:ada}}", "ada", verb="look")
    await scene.do("bo", "waited", verb="wait")
    gave = "note: {{e:bo}} gave {{e:key}} to {{e:ada}}"
    failed = "note: {{e:bo}} tried to give {{e:key}} to {{e:ada}}, without success"
    assert await scene.told() == {
        ("bo", "ada"): ["agent: Thank you.", gave, failed], ("ada", "bo"): ["actor: Thank you.", gave, failed],
        ("dee", "bo"): ["agent: Good morning."], ("bo", "dee"): ["actor: Good morning."],
    }  # fmt: skip
    note = (await scene.turns("ada", "bo"))[1]
    mine = await scene.store.db.read(lambda conn: scene.store.buffer.of_owner(conn, "ada"))
    assert (note.speaker_id, note.source_id) == ("bo", [entry for entry in mine if entry.intent.type == "action"][1].id)


async def test_agents_have_sessions_with_who_is_played_and_nobody_else(begin: "Begin") -> None:
    scene = await begin("player", "ada")
    await scene.say("ada", "Supper!")
    await scene.say("bo", "At last.", "ada")
    await scene.say("bo", "Come, Dee.", "dee")
    await scene.say("ada", "Sit here.", "dee")
    assert await scene.told() == {
        ("bo", "ada"): ["actor: Supper!", "agent: At last.", "actor: Sit here. (to another)"],
        ("dee", "ada"): ["actor: Supper!", "actor: Sit here."],
        ("cyd", "ada"): ["actor: Supper!", "actor: Sit here. (to another)"],
    }  # fmt: skip
    scene.simulation.played = frozenset()
    await scene.say("ada", "Nobody plays me.", "bo")
    assert len(await scene.turns("bo", "ada")) == 3


@pytest.mark.parametrize("pairs", ["none", "player"])
async def test_without_sessions_nothing_is_written(begin: "Begin", pairs: str) -> None:
    scene = await begin(pairs)
    await scene.say("ada", "Supper!")
    assert not await scene.sessions()
    assert await scene.store.db.read(scene.store.audit.find) == []
    assert scene.changed() == []


async def test_a_session_opens_by_the_policy_of_its_agent_and_says_so(begin: "Begin") -> None:
    scene = await begin(collapse=CollapsePolicy(max_turns=9), agents={"bo": CollapsePolicy(mode="explicit")})
    await scene.say("ada", "Good morning.", "bo")
    sessions = await scene.sessions()
    assert (sessions["ada", "bo"].policy.max_turns, sessions["bo", "ada"].policy.mode) == (9, "explicit")
    rows = await scene.store.db.read(scene.store.audit.find)
    assert [(row.action, row.cause, row.owner_id, row.session_id) for row in rows] == [
        ("opened", "play", "bo", sessions["bo", "ada"].id), ("opened", "play", "ada", sessions["ada", "bo"].id),
    ]  # fmt: skip
    assert scene.changed() == [(sessions["ada", "bo"].id, sessions["bo", "ada"].id)]


async def test_a_beat_of_several_words_and_deeds_fills_in_their_order(begin: "Begin") -> None:
    scene = await begin()
    await scene.act(
        Intent(type="dialogue", verb="say", text="Take it.", actor="ada", targets=("bo",)),
        Intent(type="action", verb="give", text="I do.", summary="gave {{e:key}} to {{e:bo}}", actor="ada", targets=("key", "bo")),
        Intent(type="dialogue", verb="say", text="It opens the mill.", actor="ada", targets=("bo",)),
    )
    gave = "note: {{e:ada}} gave {{e:key}} to {{e:bo}}"
    assert (await scene.told())["bo", "ada"] == ["actor: Take it.", gave, "actor: It opens the mill."]
    assert len(scene.changed()) == 1


async def test_speech_is_verbatim_and_holds_no_token(begin: "Begin") -> None:
    scene = await begin()
    await scene.say("ada", "He said [red]{{e:bo}}[/red] \u2013 twice.", "bo")
    assert (await scene.turns("bo", "ada"))[0].content == "He said [red]{e:bo}}[/red] \u2013 twice."


async def test_talk_that_goes_on_while_a_session_is_collapsed_stays_with_it_until_then(begin: "Begin") -> None:
    scene = await begin()
    store = scene.store
    await scene.say("ada", "Good morning.", "bo")
    session = (await scene.sessions())["bo", "ada"]
    await store.db.write(lambda conn: store.sessions.update(conn, session.model_copy(update={"status": "collapsing"})))
    await scene.say("ada", "It rains.", "bo")
    assert (await scene.told())["bo", "ada"] == ["actor: Good morning.", "actor: It rains."]


async def test_after_its_end_the_next_word_opens_a_new_one_with_what_was_left_to_do(begin: "Begin") -> None:
    scene = await begin()
    store = scene.store
    await scene.say("ada", "Good morning.", "bo")
    session = (await scene.sessions())["bo", "ada"]
    summary = SessionCollapseSummary(
        goal="greet", outcome="partial", next_steps=("ask {{e:ada}} about the mill",), turns_processed=1, pins_used=0, llm_tokens_used=0,
        collapse_reason="explicit",
    )
    run = CollapseRun(
        id="", session_id=session.id, agent_id="bo", part=0, partial=False, reason="explicit", round=1, timestamp=session.last_turn_at,
        status="committed", gate=GateReport(asked=True, reason="asked for", turns=1), summary=summary,
    )

    def collapse(conn: sqlite3.Connection) -> None:
        store.sessions.add_run(conn, run)
        store.sessions.remove_turns(conn, session.id, [turn.id for turn in store.sessions.turns(conn, session.id)])
        over = session.model_copy(update={"status": "collapsed"})
        store.sessions.update(conn, over, Change("collapsed", "collapse", "asked for", session.last_turn_at))

    await store.db.write(collapse)
    await scene.say("ada", "It rains.", "bo")
    again = (await scene.sessions())["bo", "ada"]
    assert again.id != session.id
    assert again.tasks == ("ask {{e:ada}} about the mill",)
    assert (await scene.told())["bo", "ada"] == ["actor: It rains."]


async def test_a_beat_that_fails_to_be_written_leaves_no_turn(begin: "Begin") -> None:
    """All of it is one transaction: what breaks after the filling takes the turns with it."""
    scene = await begin()
    simulation, store = scene.simulation, scene.store
    intent = Intent(type="dialogue", verb="say", text="Good morning.", actor="ada", targets=("bo",))
    beat = await plan(Referee(Router(Scripted())), simulation.world, "ada", "prose", "by hand", [intent])

    def broken(conn: sqlite3.Connection) -> None:
        assert write(store, conn, beat, simulation.world, Filling(SessionPolicy(pairs="all"))).events
        assert store.sessions.find(conn)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.db.write(broken)
    assert not await scene.sessions()
    assert await store.db.read(lambda conn: conn.execute("SELECT count(*) FROM session_turns").fetchall()) == [(0,)]
