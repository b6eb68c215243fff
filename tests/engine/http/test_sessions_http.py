"""The six operations over HTTP, over a real save."""

import asyncio
import json

import pytest

from engine.errors import CapReachedError, ModelError, ProviderError
from engine.game import Game
from engine.http.service import Service
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.llm.scripted import Reply, Scripted
from tests.engine.http.conftest import TALK, Api

ALL = "/v1/memory/sessions"
FACT = {
    "sourceTurnIds": ["M1"], "about": "P2", "topicKey": "mira_boat", "confidence": 0.9, "importance": 6, "sensitive": False,
    "content": "P2 owns a boat, the Heron.",
}  # fmt: skip
REPLY = json.dumps({"outcome": "resolved", "relevantEntities": ["P2"], "goal": "P1 asked P2 of a boat.", "facts": [FACT]})


def says(game: Game, *replies: Reply) -> Scripted:
    """Let a model reply so to collapses."""
    model = Scripted({"collapse": list(replies)})
    game._parts.router.reroute(model)
    return model


async def begun(api: Api, *lines: str, pinned: bool = True) -> str:
    """A session of Bob with Mira in which these were said."""
    key: str = (await api.post(ALL, {"agent_id": "bob", "actor_id": "en_2"}, 201))["id"]
    for line in lines:
        await api.post(f"{ALL}/{key}/turns", {"role": "actor", "content": line, "pinned": pinned}, 201)
    return key


async def test_a_session_is_begun_filled_and_read(api: Api, game: Game) -> None:
    reply = await api.send("POST", ALL, {"agent_id": "bob", "actor_id": "en_2"})
    assert reply.status_code == 201
    key = reply.json()["id"]
    assert reply.headers["location"] == f"{ALL}/{key}"
    state = reply.json()["state"]
    assert (state["agent"], state["actor"], state["status"], state["policy"]["max_turns"]) == ("Bob Harrow", "Mira Vance", "open", 30)
    body = {"role": "actor", "content": " I owe nobody. ", "hint": "the debt"}
    added = await api.post(f"{ALL}/{key}/turns", body, 201)
    assert (added["turn"]["content"], added["turn"]["speaker_id"], added["turn"]["pinned"]) == ("I owe nobody.", "en_2", False)
    assert (added["report"]["reason"], added["report"]["turns"]) == (None, 1)
    note = await api.post(f"{ALL}/{key}/turns", {"role": "note", "content": "Mira takes @th_key."}, 201)
    assert note["turn"]["content"] == "Mira Vance takes the brass key."
    pinned = await api.post(f"{ALL}/{key}/pin", {"turn_id": added["turn"]["id"]})
    assert pinned["pinned"] is True
    assert (await api.post(f"{ALL}/{key}/pin", {"turn_id": added["turn"]["id"], "pinned": False}))["pinned"] is False
    written = await api.post(f"{ALL}/{key}/scratch", {"key": "hypothesis", "value": "Mira lies."})
    assert written["scratch"] == {"hypothesis": "Mira Vance lies."}
    whole = await api.get(f"{ALL}/{key}")
    assert [turn["content"] for turn in whole["turns"]] == ["I owe nobody.", "Mira Vance takes the brass key."]
    assert (whole["scratch"], whole["summary"], whole["collapses"]) == ({"hypothesis": "Mira Vance lies."}, None, [])
    assert whole["meta"] == {"entities_found": [], "decisions_made": []}
    as_bob = await api.get(f"{ALL}/{key}", viewer="bob")
    assert (as_bob["scratch"], as_bob["state"]["actor"]) == ({"hypothesis": "Mira lies."}, "Mira")
    assert (await api.post(f"{ALL}/{key}/scratch", {"key": "hypothesis", "value": None}))["scratch"] == {}
    assert await game.sessions.turns(key) != []


async def test_what_a_policy_leaves_out_is_the_worlds(api: Api) -> None:
    made = await api.post(ALL, {"agent_id": "bob", "actor_id": "en_2", "policy": {"mode": "explicit", "recurrence_threshold": 1}}, 201)
    policy = made["state"]["policy"]
    assert (policy["mode"], policy["recurrence_threshold"], policy["max_turns"], policy["min_turns"]) == ("explicit", 1.0, 30, 2)
    other = await api.post(ALL, {"agent_id": "en_2", "actor_id": "bob", "policy": {}}, 201)
    assert (other["state"]["policy"]["max_turns"], other["state"]["policy"]["min_turns"]) == (9, 3)


async def test_sessions_are_listed_by_filter_and_page(api: Api) -> None:
    keys = []
    for actor in ("en_2", "gareth", "th_key"):
        keys.append((await api.post(ALL, {"agent_id": "bob", "actor_id": actor}, 201))["id"])
    await api.send("DELETE", f"{ALL}/{keys[0]}")
    other = (await api.post(ALL, {"agent_id": "en_2", "actor_id": "bob"}, 201))["id"]
    seen, before = [], None
    while True:
        page = await api.get(ALL, limit=2, **({"before": before} if before else {}))
        assert len(page["sessions"]) <= 2
        seen += [one["id"] for one in page["sessions"]]
        before = page["next"]
        if before is None:
            break
    assert seen == [other, *reversed(keys)]
    assert [one["id"] for one in (await api.get(ALL, agent="bob", status="open"))["sessions"]] == [keys[2], keys[1]]
    assert [one["id"] for one in (await api.get(ALL, actor="bob"))["sessions"]] == [other]
    assert [one["id"] for one in (await api.get(ALL, status="discarded"))["sessions"]] == [keys[0]]


async def test_a_collapse_gives_its_summary_and_a_retried_one_the_same(api: Api, game: Game) -> None:
    model = says(game, REPLY)
    key = await begun(api, *TALK)
    done = await api.post(f"{ALL}/{key}/collapse", wait=20)
    assert (done["status"], done["promotion_state"]) == ("collapsed", "extracted")
    assert done["summary"]["goal"] == "Bob Harrow asked Mira Vance of a boat."
    assert done["summary"]["facts"][0]["content"] == "Mira Vance owns a boat, the Heron."
    assert (done["summary"]["turns_processed"], done["summary"]["pins_used"], done["collapse"]["added"]) == (6, 6, 1)
    assert done["summary"]["llm_tokens_used"] > 0
    assert await api.post(f"{ALL}/{key}/collapse", {}) == done
    assert len(model.requests) == 1
    assert len(await game.knowledge.list()) == 1
    whole = await api.get(f"{ALL}/{key}")
    assert (whole["turns"], whole["summary"], whole["became"][0]["did"]) == ([], done["summary"], ["added"])


class Slow(Scripted):
    """Replies when it is told to."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__({"collapse": list(replies)})
        self.go, self.asked = asyncio.Event(), asyncio.Event()

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """Waits."""
        self.asked.set()
        await self.go.wait()
        return await super().complete(request, heard)


async def test_a_reply_need_not_wait_and_ten_retries_make_one_collapse(api: Api, game: Game) -> None:
    model = Slow(REPLY)
    game._parts.router.reroute(model)
    key = await begun(api, *TALK)
    replies = await asyncio.gather(*(api.post(f"{ALL}/{key}/collapse", None, 202) for _ in range(10)))
    assert {(one["status"], one["summary"]) for one in replies} == {("collapsing", None)}
    await model.asked.wait()
    assert (await api.post(f"{ALL}/{key}/collapse", None, 202, wait=0.01))["status"] == "collapsing"
    await api.refused("closed_session", 409, "POST", f"{ALL}/{key}/turns", {"role": "actor", "content": "And?"})
    waiting = asyncio.gather(*(api.post(f"{ALL}/{key}/collapse", None, wait=20) for _ in range(5)))
    await asyncio.sleep(0)
    model.go.set()
    done = await waiting
    assert all(one == done[0] for one in done)
    assert (len(model.requests), len(await game.knowledge.list()), len(await game.sessions.runs(key))) == (1, 1, 1)


async def test_nobody_waits_when_the_service_ends(api: Api, game: Game, service: Service) -> None:
    game._parts.router.reroute(Slow(REPLY))
    key = await begun(api, *TALK)
    waiting = asyncio.ensure_future(api.post(f"{ALL}/{key}/collapse", None, 202, wait=300))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    service.closing.set()
    assert (await waiting)["status"] == "collapsing"


@pytest.mark.parametrize(
    ("bad", "words"),
    [(ModelError("The model is away.", "Start it."), "The model is away."), ("no json at all", "")],
    ids=["away", "bad reply"],
)
async def test_a_model_that_fails_changes_nothing_and_a_retry_tries_anew(api: Api, game: Game, bad: Reply, words: str) -> None:
    model = says(game, *[bad] * (1 if words else 2), REPLY)
    key = await begun(api, *TALK)
    fault = await api.refused("model_failed", 502, "POST", f"{ALL}/{key}/collapse", params={"wait": 20})
    assert words in fault["message"]
    assert "Post again" in fault["advice"]
    whole = await api.get(f"{ALL}/{key}")
    assert (whole["state"]["status"], whole["state"]["promotion_state"], len(whole["turns"])) == ("collapsing", "failed", 6)
    assert (whole["collapses"][0]["status"], whole["collapses"][0]["error"]) == ("failed", fault["message"])
    assert await game.knowledge.list() == []
    again = await api.post(f"{ALL}/{key}/collapse", wait=20)
    assert (again["status"], again["collapse"]["status"], len(model.requests)) == ("collapsed", "committed", 2 if words else 3)


async def test_an_earlier_failure_is_not_told_of_a_retry_that_is_under_way(api: Api, game: Game) -> None:
    says(game, ModelError("The model is away."))
    key = await begun(api, *TALK)
    await api.refused("model_failed", 502, "POST", f"{ALL}/{key}/collapse", params={"wait": 20})
    model = Slow(REPLY)
    game._parts.router.reroute(model)
    again = await api.post(f"{ALL}/{key}/collapse", None, 202)
    assert (again["status"], again["collapse"]["error"]) == ("collapsing", "The model is away.")
    await model.asked.wait()
    model.go.set()
    assert (await api.post(f"{ALL}/{key}/collapse", wait=20))["collapse"]["status"] == "committed"


async def test_a_cap_is_told_each_time_and_keeps_the_session(api: Api, game: Game) -> None:
    def capped(request: ModelRequest) -> str:
        raise CapReachedError("The cap of 10 tokens is reached.", "Raise it.", cap="run_tokens")

    says(game, capped, capped, REPLY)
    key = await begun(api, *TALK)
    for _ in range(2):
        fault = await api.refused("cap_reached", 402, "POST", f"{ALL}/{key}/collapse", params={"wait": 20})
        assert (fault["message"], fault["advice"]) == ("The cap of 10 tokens is reached.", "Raise it.")
    assert (await api.get(f"{ALL}/{key}"))["state"]["status"] == "collapsing"
    assert (await api.post(f"{ALL}/{key}/collapse", wait=20))["status"] == "collapsed"


async def test_a_provider_that_is_away_is_told_with_what_to_do(api: Api, game: Game) -> None:
    says(game, ProviderError("No server answers at 127.0.0.1:1.", "Start it.", trouble="unreachable"))
    key = await begun(api, *TALK)
    fault = await api.refused("model_failed", 502, "POST", f"{ALL}/{key}/collapse", params={"wait": 20})
    assert "No server answers" in fault["message"]


async def test_small_talk_is_collapsed_without_a_model_and_says_why(api: Api, game: Game) -> None:
    model = says(game)
    key = await begun(api, "Good evening.", "Evening. Cold out there.", "Will you have an ale?", pinned=False)
    done = await api.post(f"{ALL}/{key}/collapse", wait=20)
    assert (done["status"], done["promotion_state"], done["summary"]["llm_tokens_used"]) == ("collapsed", "skipped", 0)
    assert "small talk" in done["summary"]["goal"]
    assert model.requests == []


async def test_the_last_turn_that_a_policy_allows_collapses(api: Api, game: Game) -> None:
    says(game, REPLY)
    body = {"agent_id": "bob", "actor_id": "en_2", "policy": {"max_turns": 3}}
    key = (await api.post(ALL, body, 201))["id"]
    for number, line in enumerate(TALK[:3]):
        added = await api.post(f"{ALL}/{key}/turns", {"role": "actor", "content": line, "pinned": True}, 201)
        assert added["report"]["reason"] == ("max_turns" if number == 2 else None)
    done = await api.post(f"{ALL}/{key}/collapse", wait=20)
    assert (done["status"], done["summary"]["collapse_reason"]) == ("collapsed", "max_turns")


async def test_a_word_only_policy_bears_any_number_of_turns(api: Api, game: Game) -> None:
    says(game)
    body = {"agent_id": "bob", "actor_id": "en_2", "policy": {"max_turns": 2, "mode": "explicit"}}
    key = (await api.post(ALL, body, 201))["id"]
    for line in TALK:
        await api.post(f"{ALL}/{key}/turns", {"role": "actor", "content": line}, 201)
    await game.settled()
    assert (await api.get(f"{ALL}/{key}"))["state"]["status"] == "open"


async def test_what_is_discarded_stays_so_however_often_it_is_said(api: Api, game: Game) -> None:
    key = await begun(api, "I owe nobody.")
    gone = (await api.send("DELETE", f"{ALL}/{key}")).json()
    assert gone["state"]["status"] == "discarded"
    assert (await api.send("DELETE", f"{ALL}/{key}")).json() == gone
    await api.refused("closed_session", 409, "POST", f"{ALL}/{key}/collapse")
    await api.refused("closed_session", 409, "POST", f"{ALL}/{key}/scratch", {"key": "a", "value": "b"})
    says(game, REPLY)
    other = await begun(api, *TALK)
    await api.post(f"{ALL}/{other}/collapse", wait=20)
    await api.refused("closed_session", 409, "DELETE", f"{ALL}/{other}")


async def test_who_waits_for_a_session_that_is_discarded_is_told_at_once_and_the_call_is_given_up(api: Api, game: Game) -> None:
    asked, given_up = asyncio.Event(), asyncio.Event()

    class Hanging(Scripted):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            asked.set()
            try:
                return await asyncio.Future()
            except asyncio.CancelledError:
                given_up.set()
                raise

    game._parts.router.reroute(game._parts.router.model("actor"), {"collapse": Hanging(name="hanging")})
    key = (await api.post(ALL, {"agent_id": "bob", "actor_id": "en_2"}, 201))["id"]
    await api.post(f"{ALL}/{key}/turns", {"role": "actor", "content": "I own a boat.", "pinned": True}, 201)
    waits = asyncio.create_task(api.refused("closed_session", 409, "POST", f"{ALL}/{key}/collapse?wait=60"))
    await asked.wait()
    assert (await api.send("DELETE", f"{ALL}/{key}")).status_code == 200
    await waits
    await given_up.wait()
    await game.settled()
    assert await game.sessions.runs(key) == []


async def test_a_session_discarded_while_it_is_collapsed_becomes_nothing(api: Api, game: Game) -> None:
    model = Slow(REPLY, REPLY, REPLY)
    game._parts.router.reroute(model)
    key = await begun(api, *TALK)
    await api.post(f"{ALL}/{key}/collapse", None, 202)
    await model.asked.wait()
    await api.send("DELETE", f"{ALL}/{key}")
    model.go.set()
    await game.settled()
    assert (await api.get(f"{ALL}/{key}"))["state"]["status"] == "discarded"
    assert (await game.knowledge.list(), len(model.requests)) == ([], 0)  # the call was given up


async def test_twenty_programs_add_turns_at_once(api: Api) -> None:
    key = (await api.post(ALL, {"agent_id": "bob", "actor_id": "en_2", "policy": {"max_turns": 1000}}, 201))["id"]

    async def program(number: int) -> list[str]:
        added = []
        for line in range(5):
            body = {"role": "actor", "content": f"Program {number} says line {line}."}
            added.append((await api.post(f"{ALL}/{key}/turns", body, 201))["turn"]["id"])
        return added

    ids = await asyncio.gather(*(program(number) for number in range(20)))
    turns = (await api.get(f"{ALL}/{key}"))["turns"]
    assert sorted(turn["id"] for turn in turns) == sorted(key for keys in ids for key in keys)
    assert [turn["seq"] for turn in turns] == list(range(1, 101))
    by_id = {turn["id"]: turn["content"] for turn in turns}
    for number, keys in enumerate(ids):
        assert [by_id[one] for one in keys] == [f"Program {number} says line {line}." for line in range(5)]
        assert keys == sorted(keys)
