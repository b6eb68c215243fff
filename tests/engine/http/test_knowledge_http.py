"""Reading knowledge, its past, the audit trail and beliefs over HTTP."""

from typing import Any

import pytest

from engine.game import Game
from engine.knowledge_desk import KnowledgeEdit
from tests.engine.http.conftest import Api

ALL = "/v1/memory/knowledge"


@pytest.fixture
async def keys(game: Game) -> list[str]:
    """Bob knows of Mira's boat and Gareth's fear, the inn of salt, everybody of the bridge."""
    desk = game.knowledge
    rows = [
        await desk.add("bob", "@en_2 owns a boat.", topic="boat"), await desk.add("bob", "@gareth fears water."),
        await desk.add("bob", "Salt is dear.", scope="faction", scope_id="inn", kind="strategy"),
        await desk.add("en_2", "The bridge is down.", scope="world"),
    ]  # fmt: skip
    return [row.id for row in rows]


async def ids(api: Api, **query: Any) -> list[str]:
    """Pieces that fit."""
    return [one["row"]["id"] for one in (await api.get(ALL, **query))["knowledge"]]


async def test_knowledge_is_listed_by_every_filter(api: Api, keys: list[str]) -> None:
    boat, fear, salt, bridge = keys
    assert await ids(api) == keys
    assert await ids(api, owner="bob") == [boat, fear, salt]
    assert await ids(api, scope="world") == [bridge]
    assert await ids(api, scope="faction", scope_id="inn") == [salt]
    assert await ids(api, subject="gareth") == [fear]
    assert await ids(api, kind="strategy") == [salt]
    assert await ids(api, term="short") == []
    assert await ids(api, tier=["hot", "warm"]) == keys
    assert await ids(api, tier="cold") == []
    assert await ids(api, text="MIRA vance") == [boat]
    assert await ids(api, text="mira", viewer="bob") == [boat]
    assert await ids(api, text="vance", viewer="bob") == []


async def test_what_has_ended_is_asked_for(api: Api, game: Game, keys: list[str]) -> None:
    await game.knowledge.add("bob", "@en_2 sold the boat.")
    assert await ids(api, holding="false") == [keys[0]]
    assert len(await ids(api, holding="all")) == 5
    assert keys[0] not in await ids(api)


async def test_pages_are_full_whatever_is_looked_for(api: Api, game: Game) -> None:
    for number in range(13):
        await game.knowledge.add("bob", f"Barrel {number} holds {'salt' if number % 3 else 'oil'}.", topic=f"barrel {number}")
    seen, after = [], 0
    while True:
        page = await api.get(ALL, text="salt", limit=3, after=after, holding="all")
        seen.append([one["text"] for one in page["knowledge"]])
        if page["next"] is None:
            break
        after = page["next"]
    assert [len(page) for page in seen] == [3, 3, 2]
    assert [text for page in seen for text in page] == [f"Barrel {number} holds salt." for number in range(13) if number % 3]


async def test_a_piece_is_read_with_its_past_also_when_it_is_no_more(api: Api, game: Game, keys: list[str]) -> None:
    await game.knowledge.edit(keys[0], KnowledgeEdit(content="@en_2 owns two boats."))
    found = await api.get(f"{ALL}/{keys[0]}")
    assert [one["text"] for one in found["wordings"]] == ["Mira Vance owns a boat.", "Mira Vance owns two boats."]
    assert [row["row"]["action"] for row in found["audit"]] == ["added", "edited"]
    assert found["known_by"] == ["bob"]
    assert (await api.get(f"{ALL}/{keys[0]}", viewer="bob"))["knowledge"]["text"] == "Mira owns two boats."
    assert (await api.get(f"{ALL}/{keys[2]}"))["known_by"] == ["bob", "en_2"]
    await game.knowledge.delete(keys[0])
    gone = await api.get(f"{ALL}/{keys[0]}")
    assert (gone["knowledge"], gone["known_by"], gone["audit"][-1]["row"]["action"]) == (None, [], "deleted")


async def test_the_audit_trail_is_read_by_filter_and_page(api: Api, game: Game, keys: list[str]) -> None:
    await game.knowledge.delete(keys[1])
    session = await game.sessions.start("bob", "en_2")
    await game.sessions.discard(session.id)
    rows, before = [], None
    while True:
        page = await api.get("/v1/memory/audit", limit=2, **({"before": before} if before else {}))
        assert len(page["audit"]) <= 2
        rows += page["audit"]
        before = page["next"]
        if before is None:
            break
    assert [row["row"]["action"] for row in rows] == ["discarded", "opened", "deleted", "added", "added", "added", "added"]
    assert [row["row"]["action"] for row in (await api.get("/v1/memory/audit", session=session.id))["audit"]] == ["discarded", "opened"]
    assert len((await api.get("/v1/memory/audit", knowledge=keys[1]))["audit"]) == 2
    assert len((await api.get("/v1/memory/audit", action=["deleted", "discarded"], owner="bob"))["audit"]) == 2
    assert (await api.get("/v1/memory/audit", cause="collapse"))["audit"] == []
    assert (await api.get("/v1/memory/audit", first_round=1))["audit"] == []


async def test_what_somebody_believed_is_asked_in_words(api: Api, keys: list[str]) -> None:
    found = await api.get(f"{ALL}/ask", q="What does Bob Harrow believe about Mira Vance?")
    assert found["question"] == {"entity": "bob", "about": "en_2", "query": "", "round": 0}
    assert [one["line"]["text"] for one in found["beliefs"]] == ["Mira Vance owns a boat."]
