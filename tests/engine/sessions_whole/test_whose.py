"""Whom a fact is about, and in whose mind it comes to be: of everybody who heard it, and of nobody else."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.llm.protocol import ModelRequest

Open = Callable[..., Awaitable[Any]]

SESSIONS = "{pairs: all, collapse: {min_turns: 1}}"
INTRODUCED = "This is Gareth. He serves the Duke."


async def collapse_all(at: Any) -> None:
    """End every session that is open by a word."""
    for session in await at.game.sessions.list(status="open"):
        await at.game.sessions.collapse(session.id)
    await at.game.settled()


async def facts(at: Any) -> dict[str, list[tuple[str, str | None]]]:
    """What each mind knows, and of whom."""
    return {key: [(row.content, row.subject_id) for row in await at.known(key)] for key in at.game.world.entities}


@pytest.mark.parametrize("model", ["storyteller", "by handle", "by name", "of the speaker"])
async def test_an_introduction_is_about_the_one_introduced(table: Open, made: Any, model: str) -> None:
    at = await table(SESSIONS)

    def written(request: ModelRequest) -> str:
        gareth = made.handle_of(request, ": Gareth")
        content = f"{gareth} serves the Duke." if model == "by handle" else "Gareth serves the Duke."
        mira = made.handle_of(request, ": Mira") if ": Mira" in request.text else "P2"
        return str(made.reply(made.fact(content, "M1", about={"by handle": gareth, "of the speaker": mira}.get(model, ""))))

    if model != "storyteller":
        at.voices.made_up["collapse"] = written
    await at.say("en_mira", INTRODUCED)
    for listener in ("en_bob", "en_odo"):
        await at.collapse(listener, "en_mira")
    known = await facts(at)
    assert known["en_bob"] == known["en_odo"] == [("{{e:en_gareth}} serves the Duke.", "en_gareth")]
    assert known["en_una"] == known["en_sly"] == []
    for request in at.voices.asked("collapse"):
        assert ": Gareth\n" in request.text.split("=== SESSION")[0], "who is only named has a handle"
    assert (await at.texts("en_odo")) == ["Gareth serves the Duke."]


async def test_names_nobody_has_told_are_in_no_prompt(table: Open) -> None:
    at = await table(SESSIONS)
    await at.say("en_mira", "The stranger serves the Duke.")
    await collapse_all(at)
    sent = at.voices.asked("collapse")
    assert sent
    assert all("Gareth" not in request.text for request in sent if request.entity != "en_gareth")


@pytest.mark.parametrize("verb", ["say", "whisper"])
async def test_first_person_facts_go_to_the_speaker_in_the_minds_of_those_who_heard(table: Open, verb: str) -> None:
    at = await table(SESSIONS)
    await at.say("en_gareth", "I own a boat, the Heron.", to="bald man" if verb == "whisper" else "", verb=verb)
    await collapse_all(at)
    known = await facts(at)
    heard = {"say": ["en_bob", "en_mira", "en_odo"], "whisper": ["en_bob"]}[verb]
    assert sorted(key for key, found in known.items() if found) == heard
    for key in heard:
        assert known[key] == [("{{e:en_gareth}} owns a boat, the Heron.", "en_gareth")]
    assert await at.texts("en_bob") == ["Gareth owns a boat, the Heron."]
    told = (await at.game.preview("en_bob")).text
    assert "The tall stranger owns a boat, the Heron." in told
    for stranger in ("en_una", "en_sly"):
        assert "Heron" not in (await at.game.preview(stranger)).text


async def test_the_same_words_of_two_are_two_facts(table: Open) -> None:
    at = await table(SESSIONS)
    await at.say("en_gareth", "I own a boat, the Heron.")
    await at.say("en_mira", "I own a boat, the Swan.")
    await collapse_all(at)
    assert sorted(await at.texts("en_bob")) == ["Gareth owns a boat, the Heron.", "Mira Vance owns a boat, the Swan."]
    assert {row.subject_id for row in await at.known("en_bob")} == {"en_gareth", "en_mira"}
