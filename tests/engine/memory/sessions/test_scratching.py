"""What thoughts leave on scratchpads."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.sessions.scratching import HYPOTHESIS, LONGEST, RULED_OUT, notes_of
from engine.records.intents import Intent
from engine.records.world import World
from tests.engine.memory.sessions.conftest import house

if TYPE_CHECKING:
    from tests.engine.memory.sessions.conftest import Begin, Scene

NOTES: dict[str, dict[str, str]] = {
    "Perhaps she lies.": {HYPOTHESIS: "Perhaps she lies."},
    "The tide turns. I think Bo has the key! He smiles.": {HYPOTHESIS: "I think Bo has the key!"},
    "I wonder whether he\n  knows": {HYPOTHESIS: "I wonder whether he", },
    "It must be Dee. Or it might be Bo.": {HYPOTHESIS: "Or it might be Bo."},
    "It cannot be Bo, then. It must be Dee.": {RULED_OUT: "It cannot be Bo, then.", HYPOTHESIS: "It must be Dee."},
    "So it was not the cook.": {RULED_OUT: "So it was not the cook."},
    "I think it wasn\u2019t him.": {RULED_OUT: "I think it wasn\u2019t him."},
    "I no longer think Bo did it.": {RULED_OUT: "I no longer think Bo did it."},
    "What a morning.": {}, "She must go. He may leave.": {}, "": {}, "...": {},
    "Perhaps " + "very " * 80 + "late.": {},
}


@pytest.mark.parametrize(("thought", "notes"), NOTES.items(), ids=[str(number) for number in range(len(NOTES))])
def test_what_a_thought_supposes_and_rules_out(thought: str, notes: dict[str, str]) -> None:
    assert notes_of(thought) == notes


@given(st.text())
def test_any_thought_leaves_short_notes_of_its_own_words(thought: str) -> None:
    for key, note in notes_of(thought).items():
        assert key in (HYPOTHESIS, RULED_OUT)
        assert 0 < len(note) <= LONGEST
        assert note in " ".join(thought.split())


def known() -> World:
    """Ada knows Bo as Gareth Reed and Dee as the weaver."""
    world = house()
    ada = world.entities["ada"].model_copy(update={"aliases": {"bo": "Gareth Reed", "dee": "the weaver"}})
    return world.model_copy(update={"entities": {**world.entities, "ada": ada}})


async def think(scene: "Scene", text: str, *about: str) -> None:
    await scene.act(Intent(type="monologue", verb="think", text=text, actor="ada", targets=about))


async def scratchpads(scene: "Scene") -> dict[tuple[str, str], dict[str, str]]:
    return {pair: dict(session.scratch) for pair, session in (await scene.sessions()).items() if session.scratch}


async def test_a_thought_is_noted_with_whom_it_is_about(begin: "Begin") -> None:
    scene = await begin(world=known())
    for who in ("bo", "dee"):
        await scene.say("ada", "Good morning.", who)
    await think(scene, "Hm. Perhaps Gareth sold the mill to the weaver's son. No.")
    note = "Perhaps {{e:bo}} sold the mill to {{e:dee}}'s son."
    assert await scratchpads(scene) == {("ada", "bo"): {HYPOTHESIS: note}, ("ada", "dee"): {HYPOTHESIS: note}}
    await think(scene, "It cannot be Gareth Reed. I think the weaver did it.")
    ruled_out, supposed = "It cannot be {{e:bo}}.", "I think {{e:dee}} did it."
    both = {HYPOTHESIS: supposed, RULED_OUT: ruled_out}
    assert await scratchpads(scene) == {("ada", "bo"): both, ("ada", "dee"): both}
    await think(scene, "Maybe Gareth is tired.")
    assert (await scratchpads(scene))["ada", "dee"] == both
    assert (await scratchpads(scene))["ada", "bo"] == {HYPOTHESIS: "Maybe {{e:bo}} is tired.", RULED_OUT: ruled_out}


async def test_a_thought_that_names_nobody_is_about_the_only_one_there_is(begin: "Begin") -> None:
    scene = await begin(world=known())
    await think(scene, "Perhaps she lies.")
    assert not await scene.sessions()
    await scene.say("ada", "Good morning.", "dee")
    await think(scene, "Perhaps she lies.")
    assert await scratchpads(scene) == {("ada", "dee"): {HYPOTHESIS: "Perhaps she lies."}}
    await scene.say("ada", "Good morning.", "bo")
    await think(scene, "Maybe she does not.")  # he or she? nobody can tell
    await think(scene, "Perhaps Cyd knows.", "cyd")  # there is no session with her
    assert await scratchpads(scene) == {("ada", "dee"): {HYPOTHESIS: "Perhaps she lies."}}
    await think(scene, "Perhaps he knows.", "bo")
    assert (await scratchpads(scene))["ada", "bo"] == {HYPOTHESIS: "Perhaps he knows."}


async def test_a_note_is_audited_and_told_of_once(begin: "Begin") -> None:
    scene = await begin(world=known())
    await scene.say("ada", "Good morning.", "bo")
    session = (await scene.sessions())["ada", "bo"]
    scene.events.clear()
    for _ in range(2):
        await think(scene, "Perhaps Gareth knows.")
    await think(scene, "Maybe Gareth forgot.")
    rows = await scene.store.db.read(lambda conn: scene.store.audit.find(conn, session=session.id, actions=["edited"]))
    assert [(row.cause, row.before, row.after) for row in reversed(rows)] == [
        ("play", "", "hypothesis: Perhaps {{e:bo}} knows."),
        ("play", "hypothesis: Perhaps {{e:bo}} knows.", "hypothesis: Maybe {{e:bo}} forgot."),
    ]  # fmt: skip
    assert scene.changed() == [(session.id,), (session.id,)]


@pytest.mark.parametrize("status", ["collapsing", "discarded"])
async def test_what_is_over_takes_no_notes(begin: "Begin", status: str) -> None:
    scene = await begin(world=known())
    await scene.say("ada", "Good morning.", "bo")
    session = (await scene.sessions())["ada", "bo"]
    await scene.store.db.write(lambda conn: scene.store.sessions.update(conn, session.model_copy(update={"status": status})))
    await think(scene, "Perhaps Gareth knows.")
    now = await scene.store.db.read(lambda conn: scene.store.sessions.get(conn, session.id))
    assert now is not None
    assert now.scratch == {}


async def test_with_sessions_with_the_player_only_those_take_notes(begin: "Begin") -> None:
    scene = await begin("player", "bo", world=known())
    await scene.say("bo", "Good morning.", "ada")
    await think(scene, "Perhaps Gareth knows.")
    assert await scratchpads(scene) == {("ada", "bo"): {HYPOTHESIS: "Perhaps {{e:bo}} knows."}}
    scene.simulation.played = frozenset()
    await think(scene, "Maybe Gareth forgot.")
    assert await scratchpads(scene) == {("ada", "bo"): {HYPOTHESIS: "Perhaps {{e:bo}} knows."}}
