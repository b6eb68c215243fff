"""Knowledge on the command line: lists, the past, the queue, questions, scopes, changes by hand."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from engine.game import Game
from engine.memory.knowledge.placing import Origin
from engine.records.knowledge import NewKnowledge
from tests.tui.calling import Caller, call

__all__ = ["call"]

WORLD = """\
name: The inn
clock: {start: 1247-03-01T17:40}
seed: 1
policies: {sessions: {pairs: none}}
places: [{id: bar, name: the bar}]
entities:
  - {id: bob, at: bar, agent: true, attributes: {name: Bob Harrow, label: the bald man}, aliases: {en_2: Mira}, factions: [inn]}
  - {id: en_2, at: bar, agent: true, attributes: {name: Mira Vance, label: the thin woman}, factions: [inn]}
  - {id: gareth, at: bar, agent: true, attributes: {name: Gareth, label: the tall stranger}}
"""


def played(save: Path, act: Callable[[Game], Awaitable[Any]]) -> Any:
    """Do something in a save."""

    async def run() -> Any:
        game = await Game.open(save)
        try:
            return await act(game)
        finally:
            await game.close()

    return asyncio.run(run())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "inn").mkdir()
    (folder / "inn" / "world.yaml").write_text(WORLD)

    async def make() -> None:
        game = await Game.create(folder / "inn", folder / "inn.db")
        await game.knowledge.add("bob", "@en_2 owns a boat.", topic="boat")
        await game.knowledge.add("bob", "@gareth fears water.", kind="fact", confidence=0.6)
        await game.knowledge.add("en_2", "The bridge is down.", scope="world")
        await game.close()

    asyncio.run(make())
    return folder / "inn.db"


@pytest.fixture
def save(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "inn.db"))


BOAT, FEAR, BRIDGE = "kno-000001", "kno-000002", "kno-000003"


def test_where_nothing_is_known_it_says_how_knowledge_comes_about(call: Caller, tmp_path: Path) -> None:
    for pairs, words in (("none", "gathers in no sessions"), ("player", "whom you play"), ("all", "to each other")):
        (tmp_path / pairs).mkdir()
        (tmp_path / pairs / "world.yaml").write_text(WORLD.replace("pairs: none", f"pairs: {pairs}"))

        async def make(folder: Path = tmp_path / pairs) -> None:
            await (await Game.create(folder, folder.with_suffix(".db"))).close()

        asyncio.run(make())
        told = call("knowledge", "list", tmp_path / f"{pairs}.db").out
        assert told.startswith("Nobody knows anything yet")
        assert words in told
        assert call("knowledge", "list", tmp_path / f"{pairs}.db", "--find", "boat").out == "Nothing is known that fits.\n"


def test_bytes_that_are_no_text_are_told(call: Caller, save: Path) -> None:
    bad = "\udcff bad"
    for arguments in (("show", save, bad), ("audit", save, "--session", bad), ("history", save, bad)):
        told = call("knowledge", *arguments, code=1).err
        assert told == "'\\udcff bad' holds bytes that are no text. Write it in UTF-8.\n", arguments


def test_a_piece_is_reworded_as_one_is_added(call: Caller, save: Path) -> None:
    call("knowledge", "edit", save, BOAT, "Gareth owns two boats.")
    assert "owns two boats" in call("knowledge", "show", save, BOAT).out
    call("knowledge", "edit", save, BOAT, "--text", "Gareth owns three boats.")
    assert "owns three boats" in call("knowledge", "show", save, BOAT).out
    assert "give the words once" in call("knowledge", "edit", save, BOAT, "x", "--text", "y", code=2).err


def ids(call: Caller, save: Path, *options: object) -> list[str]:
    """Pieces that are listed."""
    return [one["row"]["id"] for one in call("knowledge", "list", save, *options, "--json").json["knowledge"]]


def narrow(text: str) -> None:
    """Every line fits a terminal of 80 columns."""
    assert [line for line in text.splitlines() if len(line) > 80] == []


async def flag(game: Game) -> None:
    """Something of Bob's waits to be told to the inn."""
    new = NewKnowledge(
        owner_id="bob", subject_id="gareth", kind="fact", content="{{e:gareth}} killed the ferryman.", scope_id="bob", confidence=0.9,
        sensitivity="sensitive", valid_from=game.world.now,
    )  # fmt: skip
    store = game._parts.store
    change = Origin("collapse", game.world.now)
    row = await store.db.write(lambda conn: store.knowledge.add(conn, new, change.change("added", "it is new")))
    await store.db.write(
        lambda conn: store.promotions.flag(conn, row.id, "it is sensitive", "faction", "inn", change.change("flagged", "it is sensitive"))
    )


def test_knowledge_is_listed_by_every_filter(call: Caller, save: Path) -> None:
    listed = call("knowledge", "list", save)
    narrow(listed.out)
    assert [line.split()[0] for line in listed.out.splitlines()] == ["piece", BOAT, FEAR, BRIDGE]
    assert "everybody" in listed.out
    assert ids(call, save) == [BOAT, FEAR, BRIDGE]
    assert ids(call, save, "--of", "Bob") == [BOAT, FEAR]
    assert ids(call, save, "--known-by", "gareth") == [BRIDGE]
    assert ids(call, save, "--known-by", "bob", "--find", "boat") == [BOAT]
    assert ids(call, save, "--about", "Mira Vance") == [BOAT]
    assert ids(call, save, "--scope", "world") == [BRIDGE]
    assert ids(call, save, "--faction", "inn") == []
    assert ids(call, save, "--kind", "strategy") == []
    assert ids(call, save, "--term", "long", "--tier", "hot", "--tier", "warm") == [BOAT, FEAR, BRIDGE]
    assert ids(call, save, "--find", "MIRA vance") == [BOAT]
    assert ids(call, save, "--find", "vance", "--as", "bob") == []
    assert ids(call, save, "--ended") == []
    page = call("knowledge", "list", save, "--limit", "2", "--json").json
    assert ids(call, save, "--after", page["next"]) == [BRIDGE]
    assert f"--after {page['next']}" in call("knowledge", "list", save, "--limit", "2").out
    assert call("knowledge", "list", save, "--find", "nonsense").out == "Nothing is known that fits.\n"


def test_a_piece_is_shown_with_who_knows_it(call: Caller, save: Path) -> None:
    shown = call("knowledge", "show", save, BRIDGE)
    narrow(shown.out)
    assert "known by: Bob Harrow, Mira Vance, Gareth" in shown.out
    assert call("knowledge", "show", save, BOAT, "--as", "bob").out.startswith("Mira owns a boat.\n")
    assert call("knowledge", "show", save, BOAT, "--json").json["row"]["topic_key"] == "boat"


def test_a_piece_is_added_edited_deleted_and_brought_back(call: Caller, save: Path) -> None:
    options = ("--kind", "strategy", "--topic", "The dog", "--why", "it bites", "--importance", "8", "--pin", "--json")
    row = call("knowledge", "add", save, "bob", "Keep away from @gareth.", *options).json["row"]
    assert (row["kind"], row["topic_key"], row["importance"], row["pinned"]) == ("strategy", "the_dog", 8, True)
    assert row["subject_id"] == "gareth"
    edited = call("knowledge", "edit", save, BOAT, "--text", "@en_2 owns two boats.", "--confidence", "0.5", "--sensitive", "--json").json
    assert (edited["text"], edited["row"]["confidence"], edited["row"]["sensitivity"]) == ("Mira Vance owns two boats.", 0.5, "sensitive")
    assert call("knowledge", "edit", save, FEAR, "--about", "", "--json").json["row"]["subject_id"] is None
    assert "say what is to change" in call("knowledge", "edit", save, BOAT, code=2).err
    assert "restore" in call("knowledge", "delete", save, BOAT).out
    past = call("knowledge", "history", save, BOAT)
    narrow(past.out)
    assert "it is no more" in past.out
    assert "deleted" in past.out
    back = call("knowledge", "restore", save, BOAT, "--version", "1", "--json").json
    assert back["text"] == "Mira Vance owns a boat."
    wordings = call("knowledge", "history", save, BOAT, "--json").json["wordings"]
    assert {one["text"] for one in wordings} == {"Mira Vance owns a boat.", "Mira Vance owns two boats."}


def test_who_will_come_to_know_it_is_said_before_it_happens(call: Caller, save: Path) -> None:
    refused = call("knowledge", "rescope", save, BOAT, "faction", "inn", code=2)
    assert "Mira Vance would come to know it." in refused.err
    assert "--yes" in refused.err
    asked = call("knowledge", "rescope", save, BOAT, "world", typed="n\n", code=1)
    assert "Mira Vance and Gareth would come to know it." in asked.err
    assert "Nothing was changed." in asked.err
    assert call("knowledge", "show", save, BOAT, "--json").json["row"]["scope"] == "entity"
    assert "the faction inn" in call("knowledge", "rescope", save, BOAT, "faction", "inn", typed="y\n").out
    assert ids(call, save, "--known-by", "en_2", "--find", "boat") == [BOAT]
    narrowed = call("knowledge", "rescope", save, BOAT, "entity", "Bob Harrow", "--json")  # nobody comes to know it: no question
    assert narrowed.json["row"]["scope_id"] == "bob"
    assert "no more to: Mira Vance" in narrowed.err
    everybody = call("knowledge", "rescope", save, BOAT, "world", "--yes", "--json")
    assert (everybody.json["row"]["scope"], "would come to know it" in everybody.err) == ("world", True)


def test_what_is_added_for_others_says_so_first(call: Caller, save: Path) -> None:
    refused = call("knowledge", "add", save, "bob", "The ale is sour.", "--scope", "faction", "--whose", "inn", code=2)
    assert "Mira Vance would come to know it, too." in refused.err
    assert ids(call, save, "--find", "ale") == []
    row = call("knowledge", "add", save, "bob", "-", "--scope", "world", "--yes", "--json", piped="The ale is sour.\n").json["row"]
    assert (row["content"], row["scope"]) == ("The ale is sour.", "world")


def test_what_waits_is_shown_approved_and_rejected(call: Caller, save: Path) -> None:
    assert call("knowledge", "queue", save).out == "Nothing waits for your word.\n"
    played(save, flag)
    queue = call("knowledge", "queue", save)
    narrow(queue.out)
    assert "Gareth killed the ferryman." in queue.out
    assert "Mira Vance would come to know it." in queue.out
    [one] = call("knowledge", "queue", save, "--json").json["waiting"]
    assert "--yes" in call("knowledge", "approve", save, one["item"]["id"], code=2).err
    assert "(waits for" in call("knowledge", "list", save, "--find", "ferryman").out
    approved = call("knowledge", "approve", save, one["item"]["id"], "--yes", "--json")
    assert "Mira Vance would come to know it." in approved.err
    assert (approved.json["row"]["scope"], approved.json["row"]["scope_id"]) == ("faction", "inn")
    assert call("knowledge", "queue", save, "--json").json["waiting"] == []
    assert call("knowledge", "reject", save, one["item"]["id"], code=1).err


def test_what_is_rejected_is_believed_no_longer_and_can_be_brought_back(call: Caller, save: Path) -> None:
    played(save, flag)
    [one] = call("knowledge", "queue", save, "--json").json["waiting"]
    key = one["item"]["knowledge_id"]
    assert call("knowledge", "reject", save, key, "--json").json["row"]["valid_to"] is not None
    assert ids(call, save, "--ended") == [key]
    assert call("knowledge", "restore", save, key, "--json").json["row"]["valid_to"] is None


def test_questions_are_answered(call: Caller, save: Path) -> None:
    told = call("knowledge", "ask", save, "What does Bob Harrow believe about Mira Vance?")
    assert told.out == f"Bob Harrow at the end of round 0:\n  {BOAT}  Mira Vance owns a boat.\n"
    found = call("knowledge", "ask", save, "What did Bob know about Mira at round 0?", "--as", "bob", "--json").json
    assert (found["question"]["about"], found["beliefs"][0]["line"]["text"]) == ("en_2", "Mira owns a boat.")
    assert "Ask, say" in call("knowledge", "ask", save, "How late is it?", code=1).err
    assert "believed nothing that fits" in call("knowledge", "ask", save, "What does Gareth believe about Bob Harrow?").out


def test_the_audit_trail_is_shown(call: Caller, save: Path) -> None:
    call("knowledge", "delete", save, FEAR)
    shown = call("knowledge", "audit", save)
    narrow(shown.out)
    rows = call("knowledge", "audit", save, "--json").json["audit"]
    assert [row["row"]["action"] for row in rows] == ["deleted", "added", "added", "added"]
    assert len(call("knowledge", "audit", save, "--action", "deleted", "--json").json["audit"]) == 1
    assert len(call("knowledge", "audit", save, "--piece", FEAR, "--json").json["audit"]) == 2
    assert len(call("knowledge", "audit", save, "--of", "Mira", "--cause", "hand", "--json").json["audit"]) == 1
    first = call("knowledge", "audit", save, "--limit", "3", "--json").json
    assert len(call("knowledge", "audit", save, "--before", first["next"], "--json").json["audit"]) == 1
    assert call("knowledge", "audit", save, "--from-round", "1").out == "Nothing was done that fits.\n"
    assert "none of" in call("knowledge", "audit", save, "--action", "sung", code=2).err


def test_promotion_says_what_it_came_to(call: Caller, save: Path) -> None:
    assert call("knowledge", "promote", save).out.startswith("No short-term piece is sure and old enough")
    assert call("knowledge", "promote", save, "--json").json is None

    async def learned(game: Game) -> None:
        new = NewKnowledge(
            owner_id="bob", subject_id="en_2", kind="fact", content="{{e:en_2}} keeps bees.", scope_id="bob", confidence=0.9,
            valid_from=game.world.now.replace(year=1246),
        )  # fmt: skip
        store = game._parts.store
        origin = Origin("collapse", new.valid_from)
        await store.db.write(lambda conn: store.knowledge.add(conn, new, origin.change("added", "it is new")))

    played(save, learned)
    told = call("knowledge", "promote", save).out
    assert told.startswith("pro-")
    assert "promoted: kno-000004" in told
    assert ids(call, save, "--term", "long", "--find", "bees") == ["kno-000004"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("show", "inn.db", "kno-000099"), 1, "no such knowledge"),
        (("history", "inn.db", "kno-000099"), 1, "no such knowledge"),
        (("approve", "inn.db", "rev-000099"), 1, ""),
        (("rescope", "inn.db", "kno-000001", "faction", "guild", "--yes"), 1, "There are: inn."),
        (("rescope", "inn.db", "kno-000001", "faction", "--yes"), 2, "say whose"),
        (("rescope", "inn.db", "kno-000001", "world", "inn", "--yes"), 2, "nobody's"),
        (("rescope", "inn.db", "kno-000001", "street"), 2, "'faction'"),
        (("add", "inn.db", "Bop Harrow", "The ale is sour."), 1, "Did you mean Bob Harrow (bob)?"),
        (("add", "inn.db", "bob", "The ale is sour.", "--importance", "11"), 2, "10"),
        (("add", "inn.db", "bob", "The bridge is down.", "--scope", "world", "--yes"), 1, "known already"),
        (("list", "inn.db", "--tier", "dull"), 2, "none of hot, warm, cold, archived"),
        (("list", "inn.db", "--known-by", "bob", "--scope", "world"), 2, "--known-by"),
        (("list", "inn.db", "--faction", "inn", "--scope", "world"), 2, "--faction"),
        (("list", "nothing.db"), 1, "nothing.db"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    call: Caller, save: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, words: str
) -> None:
    monkeypatch.chdir(save.parent)
    before = ids(call, save)
    assert words in " ".join(call("knowledge", *arguments, code=code).err.split())
    assert ids(call, save) == before
