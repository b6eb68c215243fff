"""The course of a conversation of sixty turns through a real game: collapsed at fifty, gone on with, and what is known of it after."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.events import SessionCollapsed
from engine.llm.protocol import ModelRequest

Open = Callable[..., Awaitable[Any]]

NAMES = {"en_mira": "Mira", "en_bob": "Bob"}
FIRST = [
    "Gareth owns a boat, the Heron.", "Does he? Where does the Heron lie?", "At the north quay. Gareth fears water.",
    "A man with a boat who fears water!", "The harbour master pays forty crowns for salt.", "Forty crowns is much for salt.",
    "I work at the mill.", "Then you know the miller.", "The Duke's salt is dear this year.", "Let us sail with the Heron at dawn.",
    "Agreed: we sail with the Heron at dawn.", "Bring me the key of the salt store before we sail.",
]  # fmt: skip
LATER = [
    "Gareth sold the boat.", "Sold the Heron! And the salt?", "For salt the harbour master pays forty crowns, as ever.",
    "You would know, at the mill.", "I no longer work at the mill.", "Oh. And the Duke's salt?", "It costs much this year.",
    "Then let us sail with the Swan at noon instead.", "Agreed, with the Swan at noon instead.", "I fetched the key of the salt store.",
]  # fmt: skip
WORLD = """\
name: The quay
clock: {start: 1247-03-01T10:00}
seed: 3
policies:
  sessions: {pairs: all}
places: [{id: pl_bar, name: the bar}, {id: pl_mill, name: the mill}]
entities:
  - {id: en_bob, at: pl_bar, agent: true, attributes: {name: Bob Harrow, label: bald man}, aliases: {en_mira: Mira, en_gareth: Gareth}}
  - {id: en_mira, at: pl_bar, agent: true, attributes: {name: Mira Vance, label: thin woman}, aliases: {en_bob: Bob, en_gareth: Gareth}}
  - {id: en_gareth, at: pl_mill, agent: true, attributes: {name: Gareth, label: the tall stranger, status: asleep}}
"""


def the_talk() -> list[tuple[str, str]]:
    """Fifty turns, of which the ends tell something, then ten."""
    middle = [f"The Heron carried {number} barrels of salt last week." for number in range(60, 60 + 50 - len(FIRST))]
    return [(("en_mira", "en_bob")[at % 2], words) for at, words in enumerate([*FIRST[:-2], *middle, *FIRST[-2:], *LATER])]


def first(made: Any) -> Callable[[ModelRequest], str]:
    """What a model takes from the first fifty turns."""

    def write(request: ModelRequest) -> str:
        def at(words: str) -> str:
            return str(made.handle_of(request, words))

        gareth, mira = made.handle_of(request, ": Gareth"), made.handle_of(request, ": Mira")
        return str(
            made.reply(
                made.fact(f"{gareth} owns a boat, the Heron.", at("owns a boat"), about=gareth, topic="gareth_boat"),
                made.fact(f"{gareth} fears water.", at("fears water"), about=gareth, topic="gareth_water"),
                made.fact("The harbour master pays forty crowns for salt.", at("pays forty"), topic="salt_price"),
                made.fact(f"{mira} works at the mill.", at("I work at the mill"), about=mira, topic="mira_work"),
                made.fact("The Duke's salt is dear.", at("salt is dear"), topic="dukes_salt"),
                decisions=[made.decision(f"P1 and {mira} will sail with the Heron at dawn.", at("Agreed: we sail"), topic="sailing")],
                nextSteps=[f"P1 means to bring {mira} the key of the salt store."],
            )
        )

    return write


def second(made: Any) -> Callable[[ModelRequest], str]:
    """And from the ten after them."""

    def write(request: ModelRequest) -> str:
        def at(words: str) -> str:
            return str(made.handle_of(request, words))

        gareth, mira = made.handle_of(request, ": Gareth"), made.handle_of(request, ": Mira")
        return str(
            made.reply(
                made.fact(f"{gareth} sold the boat.", at("sold the boat"), about=gareth, topic="gareth_boat"),
                made.fact("For salt the harbour master pays forty crowns.", at("as ever"), topic="salt_price"),
                made.fact(f"{mira} no longer works at the mill.", at("no longer"), about=mira, topic="mira_work"),
                made.fact("Salt of the Duke costs much.", at("costs much"), topic="dukes_salt"),
                decisions=[
                    made.decision(
                        f"P1 and {mira} will sail with the Swan at noon.", at("Agreed, with the Swan"), topic="sailing",
                        supersedes=at("[decision, sailing]"), rationale="The Heron was sold.",
                    )
                ],
                nextSteps=[],
            )
        )

    return write


@pytest.mark.slow
async def test_sixty_turns_end_to_end(table: Open, made: Any) -> None:
    at = await table(world=WORLD)
    at.voices.made_up["collapse"] = lambda request: (first if "Agreed: we sail" in request.text else second)(made)(request)
    at.voices.made_up["validate"] = lambda _: made.verdict("supported", "K1")
    talk = the_talk()
    await at.talk(talk[:49], NAMES)
    assert not [event for event in at.events if isinstance(event, SessionCollapsed)], "nothing is forced at 49"
    assert len(await at.turns("en_bob", "en_mira")) == 49
    await at.talk(talk[49:50], NAMES)
    await at.game.settled()
    ends = [event.run for event in at.events if isinstance(event, SessionCollapsed)]
    assert {(run.agent_id, run.reason, run.partial, run.status) for run in ends} == {
        ("en_bob", "max_turns", False, "committed"), ("en_mira", "max_turns", False, "committed"),
    }  # fmt: skip
    assert all(run.summary is not None and run.summary.turns_processed == 50 for run in ends)
    assert len(await at.known("en_bob")) == 6
    then = at.game.world.round

    await at.talk(talk[50:51], NAMES)  # the next word opens the next session
    at.voices.requests.clear()
    await at.talk(talk[51:53], NAMES)
    [prompt] = [request.text for request in at.voices.asked("actor") if request.entity == "en_bob"]
    assert "Still to do with Mira: You mean to bring Mira the key of the salt store." in prompt
    assert "Gareth owns a boat, the Heron." in prompt
    assert [turn.content for turn in await at.turns("en_bob", "en_mira")] == [words for _, words in talk[50:53]]

    sold_at = (await at.turns("en_bob", "en_mira"))[0].timestamp
    await at.talk(talk[53:], NAMES)
    await at.rest()
    [run] = await at.game.sessions.runs((await at.session("en_bob", "en_mira")).id)
    assert (run.reason, run.status, run.error, run.notes) == ("inactivity", "committed", "", ())
    rows = {row.topic_key: row for row in await at.known("en_bob")}
    assert len(await at.known("en_bob")) == len(rows)
    assert set(rows) == {"gareth_boat", "gareth_water", "salt_price", "mira_work", "dukes_salt", "sailing"}
    past = {line.row.content: line.row for line in await at.game.knowledge.list(owner="en_bob", holding=False)}

    # told again in other words: no rule is sure, a model's word merges
    for topic, sure in (("salt_price", 0.945), ("dukes_salt", 0.945)):
        assert (round(rows[topic].confidence, 3), len(rows[topic].turn_ids)) == (sure, 2)
    assert len(await at.game.knowledge.audit(owner="en_bob", actions=["merged"])) == 2
    # contradicted: it has ended, when that was told
    boat, mill = past["{{e:en_gareth}} owns a boat, the Heron."], past["{{e:en_mira}} works at the mill."]
    assert (boat.valid_to, boat.superseded_by) == (sold_at, next(r.id for r in await at.known("en_bob") if "sold" in r.content))
    assert mill.valid_to is not None
    assert mill.superseded_by == rows["mira_work"].id
    # decided anew
    was = past["{{e:en_bob}} and {{e:en_mira}} will sail with the Heron at dawn."]
    assert rows["sailing"].supersedes == was.id
    assert was.superseded_by == rows["sailing"].id
    assert run.summary is not None
    assert run.summary.decisions[0].supersedes == was.content
    assert run.summary.decisions[0].rationale == "The Heron was sold."

    # what can both be so stays, and both states can be asked for
    water = "{{e:en_gareth}} fears water."
    believed = {line.line.row.content for line in await at.game.knowledge.believed_at("en_bob", then, about="en_gareth")}
    assert believed == {"{{e:en_gareth}} owns a boat, the Heron.", water}
    now = {line.line.row.content for line in await at.game.knowledge.believed_at("en_bob", at.game.world.round, about="en_gareth")}
    assert now == {"{{e:en_gareth}} sold the boat.", water}
    answer = await at.game.knowledge.ask(f"What did Bob believe about Gareth at round {then}?")
    assert [line.line.text for line in answer] == ["Gareth owns a boat, the Heron.", "Gareth fears water."]
    assert answer[0].now.startswith("It ended")
    answer = await at.game.knowledge.ask("What does Bob know about Gareth?")
    assert {line.line.text for line in answer} == {"Gareth fears water.", "Gareth sold the boat."}
    told = (await at.game.preview("en_bob")).text
    assert "Gareth owns a boat" not in told
    assert "Still to do" not in told


async def test_the_storyteller_takes_the_same_from_such_a_talk(table: Open) -> None:
    at = await table(world=WORLD)
    await at.talk(the_talk()[:1] + the_talk()[2:6], NAMES)
    await at.collapse("en_bob", "en_mira")
    before = at.game.world.round
    assert {"Gareth owns a boat, the Heron.", "Gareth fears water."} <= set(await at.texts("en_bob"))
    await at.talk([("en_mira", "Gareth sold the boat."), ("en_bob", "When?"), ("en_mira", "Gareth sold the boat at noon.")], NAMES)
    await at.collapse("en_bob", "en_mira")
    now = await at.texts("en_bob")
    assert "Gareth fears water." in now
    assert "Gareth owns a boat, the Heron." not in now
    assert any("sold" in text for text in now)
    then = [line.line.text for line in await at.game.knowledge.believed_at("en_bob", before, about="en_gareth")]
    assert "Gareth owns a boat, the Heron." in then
