"""A person's desk over knowledge: a real game over the bundled world, whose Orla, Joss and Tam are of the harbour."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.errors import CommandError, KnowledgeError
from engine.events import EngineEvent, FactionsChanged, KnowledgeChanged, PromotionCommitted
from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.knowledge_desk import KnowledgeEdit
from engine.memory.knowledge.placing import Origin
from engine.records.knowledge import Knowledge, NewKnowledge
from engine.records.tokens import token

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")
ORLA, JOSS, TAM, SABETH = "orla_venn", "joss_pellam", "tam_birrell", "sabeth_wray"
HARBOUR = (ORLA, JOSS, TAM)
S = token(SABETH)


@pytest.fixture
async def game(tmp_path: Path) -> AsyncIterator[Game]:
    game = await Game.create(WORLD, tmp_path / "game.db", 7)
    yield game
    await game.close()


def heard(game: Game) -> list[EngineEvent]:
    events: list[EngineEvent] = []
    game.listen(events.append)
    return events


async def texts(game: Game, entity: str) -> list[str]:
    """What somebody believes, by true names."""
    return [line.text for line in await game.knowledge.known_by(entity)]


async def learned(game: Game, content: str, owner: str = ORLA, **more: object) -> Knowledge:
    """A short-term piece, as a collapse leaves it, older than promotion asks for."""
    values: dict[str, object] = {
        "owner_id": owner, "subject_id": SABETH, "kind": "fact", "content": content, "scope_id": owner, "confidence": 0.8,
        "valid_from": game.world.now.replace(year=game.world.now.year - 1),
    }
    new = NewKnowledge.model_validate(values | more)
    store = game._parts.store
    change = Origin("collapse", new.valid_from).change("added", "it is new")
    return await store.db.write(lambda conn: store.knowledge.add(conn, new, change))


async def flagged(game: Game, content: str = f"{S} killed the ferryman.") -> Knowledge:
    """A sensitive piece that waits to be told to the harbour."""
    row = await learned(game, content, sensitivity="sensitive")
    store = game._parts.store
    change = Origin("promotion", game.world.now).change("flagged", "it is sensitive")
    await store.db.write(lambda conn: store.promotions.flag(conn, row.id, "it is sensitive", "faction", "harbour", change))
    return row


# by hand
async def test_what_is_written_by_hand_is_known_told_and_audited(game: Game) -> None:
    events = heard(game)
    row = await game.knowledge.add(ORLA, "Sabeth Wray carries a sealed letter.", topic="the Letter!", importance=8)
    assert (row.content, row.subject_id, row.topic_key, row.term) == (f"{S} carries a sealed letter.", SABETH, "the_letter", "long")
    assert await texts(game, ORLA) == ["Sabeth Wray carries a sealed letter."]
    assert await texts(game, JOSS) == []
    assert [event.changed for event in events if isinstance(event, KnowledgeChanged)] == [(row,)]
    [line] = await game.knowledge.audit(knowledge=row.id)
    assert (line.row.action, line.row.cause, line.after) == ("added", "hand", "Sabeth Wray carries a sealed letter.")
    assert await game._parts.store.db.read(lambda conn: game._parts.store.embeddings.count_missing_knowledge(conn, "hash768")) == 0


async def test_what_it_contradicts_is_retired_and_can_be_brought_back(game: Game) -> None:
    boat = await game.knowledge.add(ORLA, f"{S} owns a boat.")
    sold = await game.knowledge.add(ORLA, f"{S} sold the boat.")
    assert await texts(game, ORLA) == ["Sabeth Wray sold the boat."]
    past = await game.knowledge.history(boat.id)
    assert past.line is not None
    assert past.line.until == "just now"
    assert [one.row.action for one in past.audit] == ["added", "retired"]
    assert [one.holds for one in past.wordings] == [True, False]
    back = await game.knowledge.restore(boat.id)
    assert back.holds
    assert not (await game.knowledge.get(sold.id)).row.holds  # two that contradict are never believed at once


async def test_the_same_is_not_written_twice(game: Game) -> None:
    await game.knowledge.add(ORLA, f"{S} owns a boat.")
    with pytest.raises(KnowledgeError, match="known already") as caught:
        await game.knowledge.add(ORLA, f"{S} has a boat.")
    assert caught.value.kind == "known_already"
    await game.knowledge.add(JOSS, f"{S} has a boat.")


async def test_edits_keep_versions_and_each_can_be_brought_back(game: Game) -> None:
    row = await game.knowledge.add(ORLA, f"{S} owns a boat.")
    await game.step()
    await game.knowledge.edit(row.id, KnowledgeEdit(content="Sabeth Wray owns two boats.", confidence=0.6, pinned=True))
    await game.knowledge.edit(row.id, KnowledgeEdit(importance=9))
    assert await texts(game, ORLA) == ["Sabeth Wray owns two boats."]
    past = await game.knowledge.history(row.id)
    assert [one.text for one in past.wordings] == ["Sabeth Wray owns a boat.", *["Sabeth Wray owns two boats."] * 2]
    assert (past.wordings[0].first_round, past.wordings[0].last_round) == (0, 1)
    restored = await game.knowledge.restore(row.id, version=1)
    assert (restored.content, restored.version, restored.pinned) == (f"{S} owns a boat.", 4, True)
    same = await game.knowledge.edit(row.id, KnowledgeEdit(importance=9))
    assert same.version == restored.version


async def test_what_was_deleted_comes_back_as_it_was(game: Game) -> None:
    row = await game.knowledge.add(ORLA, f"{S} owns a boat.", importance=7)
    await game.knowledge.delete(row.id)
    assert await texts(game, ORLA) == []
    assert (await game.knowledge.history(row.id)).line is None
    with pytest.raises(KnowledgeError, match="Restore it first"):
        await game.knowledge.edit(row.id, KnowledgeEdit(importance=2))
    back = await game.knowledge.restore(row.id)
    assert (back.id, back.importance, back.content) == (row.id, 7, row.content)
    assert [one.row.action for one in (await game.knowledge.history(row.id)).audit] == ["added", "deleted", "restored"]
    with pytest.raises(KnowledgeError, match="nothing to restore"):
        await game.knowledge.restore(row.id)


@pytest.mark.parametrize(
    ("owner", "text", "more", "said"),
    [
        ("nobody", "It rains.", {}, "mind"), (ORLA, "   ", {}, "words"), (ORLA, "I own a boat.", {}, "first person"),
        (ORLA, "It rains.", {"confidence": 1.5}, "confidence"), (ORLA, "It rains.", {"importance": 0}, "importance"),
        (ORLA, "It rains.", {"scope": "faction", "scope_id": "guild"}, "crown, harbour"),
        (ORLA, "It rains.", {"subject": "nobody"}, "Nobody"), (ORLA, "See kno-000001 and sabeth_wrayx.", {}, "id"),
    ],
)  # fmt: skip
async def test_what_cannot_be_kept_is_refused_with_a_word_to_the_reader(
    game: Game, owner: str, text: str, more: dict[str, object], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        await game.knowledge.add(owner, text, **more)  # type: ignore[arg-type]
    assert await game.knowledge.list(holding=None) == []


# scopes
async def test_widening_shows_who_will_know_and_then_they_do(game: Game) -> None:
    row = await game.knowledge.add(ORLA, f"{S} carries a sealed letter.")
    change = await game.knowledge.who_would_know(row.id, "faction", "harbour")
    assert set(change.learn) == {JOSS, TAM}
    assert change.forget == ()
    assert "Joss Pellam" in change.told
    assert change.told.endswith("would come to know it.")
    assert await texts(game, JOSS) == []
    await game.knowledge.rescope(row.id, "faction", "harbour")
    assert {who for who in game.world.entities if await texts(game, who)} == set(HARBOUR)
    everybody = await game.knowledge.who_would_know(row.id, "world")
    assert set(everybody.learn) == {one.id for one in game.world.agents()} - set(HARBOUR)
    await game.knowledge.narrow(row.id)
    assert await texts(game, JOSS) == []
    assert await texts(game, ORLA) == ["Sabeth Wray carries a sealed letter."]
    assert [one.row.action for one in (await game.knowledge.history(row.id)).audit] == ["added", "widened", "narrowed"]


async def test_what_one_knows_word_for_word_by_another_piece_is_known_once(game: Game) -> None:
    everybody = await game.knowledge.add(ORLA, "The lamp is lit at nine.", scope="world")
    mine = await game.knowledge.add(ORLA, "The bell rings at ten.")
    same = await game.knowledge.add(SABETH, "The bell rings at ten.")
    change = await game.knowledge.who_would_know(mine.id, "world")
    assert SABETH not in change.learn
    assert f"{game.name(SABETH)} knows it already, by another piece." in change.told
    await game.knowledge.rescope(mine.id, "world")
    held = await game.knowledge.known_by(SABETH)
    assert [line.row.id for line in held if line.text == "The bell rings at ten."] == [same.id]
    assert [one.line.row.id for one in await game.knowledge.ask("What does Sabeth know about bells?")] == [same.id]

    twin = await game.knowledge.add(ORLA, "The lamp is lit at nine.")
    assert (await game.knowledge.who_would_know(twin.id, "faction", "harbour")).learn == ()
    with pytest.raises(KnowledgeError, match=f"{everybody.id} says the same"):
        await game.knowledge.rescope(twin.id, "faction", "harbour")


async def test_nobody_forgets_by_widening(game: Game) -> None:
    row = await game.knowledge.add(ORLA, f"{S} carries a sealed letter.")
    assert set((await game.knowledge.who_would_know(row.id, "faction", "crown")).learn) == {SABETH}
    await game.knowledge.rescope(row.id, "faction", "crown")
    assert await texts(game, ORLA) == await texts(game, SABETH) != []
    assert set(await game.knowledge.who_knows(row.id)) == {SABETH, ORLA}


async def test_what_is_widened_meets_what_is_known_there(game: Game) -> None:
    held = await game.knowledge.add(JOSS, f"{S} owns a boat.", scope="faction", scope_id="harbour", confidence=0.8)
    mine = await game.knowledge.add(ORLA, f"{S} has the boat.", confidence=0.5)
    into = await game.knowledge.rescope(mine.id, "faction", "harbour")
    assert into.id == held.id
    assert into.confidence == pytest.approx(0.85)
    assert await texts(game, TAM) == ["Sabeth Wray owns a boat."]
    sold = await game.knowledge.add(ORLA, f"{S} sold the boat.")
    await game.knowledge.rescope(sold.id, "faction", "harbour")
    assert await texts(game, TAM) == ["Sabeth Wray sold the boat."]


async def test_who_joins_learns_and_who_leaves_keeps_what_they_knew(game: Game) -> None:
    events = heard(game)
    row = await game.knowledge.add(ORLA, "The lamp is lit at nine.", scope="faction", scope_id="harbour")
    assert await texts(game, SABETH) == []
    await game.knowledge.set_factions(SABETH, ["crown", "harbour"])
    assert game.world.entities[SABETH].factions == ("crown", "harbour")
    assert await texts(game, SABETH) == ["The lamp is lit at nine."]
    await game.step()
    await game.knowledge.set_factions(SABETH, ["crown"])
    await game.knowledge.edit(row.id, KnowledgeEdit(content="The lamp is lit at ten."))
    await game.knowledge.add(ORLA, "The lamp oil is spent.", scope="faction", scope_id="harbour")
    assert await texts(game, SABETH) == ["The lamp is lit at nine."]  # what came later does not reach her
    assert await texts(game, TAM) == ["The lamp is lit at ten.", "The lamp oil is spent."]
    changes = await game.knowledge.faction_changes(SABETH)
    assert [(one.faction, one.joined, one.round) for one in changes] == [("harbour", True, 0), ("harbour", False, 1)]
    assert [event.changes for event in events if isinstance(event, FactionsChanged)] == [(one,) for one in changes]
    [kept] = await game.knowledge.audit(actions=["kept"])
    assert (kept.row.owner_id, kept.row.knowledge_id, kept.row.cause) == (SABETH, row.id, "leaving")


async def test_factions_are_on_disk_and_play_goes_on_with_them(game: Game, tmp_path: Path) -> None:
    await game.knowledge.set_factions(JOSS, ["harbour", "guild"])
    await game.step()
    assert game.world.entities[JOSS].factions == ("harbour", "guild")
    assert "guild" in game.knowledge.factions()
    await game.close()
    again = await Game.open(tmp_path / "game.db")
    assert again.world.entities[JOSS].factions == ("harbour", "guild")
    await again.close()


async def test_a_faction_needs_a_name(game: Game) -> None:
    with pytest.raises(KnowledgeError, match="no name"):
        await game.knowledge.set_factions(JOSS, [" "])
    with pytest.raises(KnowledgeError, match="Nobody"):
        await game.knowledge.set_factions("nobody", ["harbour"])


# promotion and review
async def test_promotion_on_demand_is_told_of_and_can_be_taken_back(game: Game) -> None:
    events = heard(game)
    row = await learned(game, f"{S} owns a boat.")
    run = await game.knowledge.promote_now()
    assert run is not None
    assert run.promoted == (row.id,)
    assert [event.run for event in events if isinstance(event, PromotionCommitted)] == [run]
    assert (await game.knowledge.runs()) == [run]
    [back] = await game.knowledge.reverse(row.id)
    assert (back.term, back.promoted_round) == ("short", None)
    assert await game.knowledge.promote_now() is None  # a person has taken it back
    await game.knowledge.edit(row.id, KnowledgeEdit(confidence=0.9))
    assert await game.knowledge.promote_now() is not None
    with pytest.raises(KnowledgeError, match="never promoted"):
        await game.knowledge.reverse((await game.knowledge.add(ORLA, "It rains.")).id)


async def test_what_was_learned_since_counts_when_a_promotion_is_taken_back(game: Game) -> None:
    row = await learned(game, f"{S} owns a boat.")
    await game.knowledge.promote_now()
    await game.knowledge.rescope(row.id, "faction", "harbour")
    await game.knowledge.add(ORLA, f"{S} sold the boat.")
    await game.knowledge.reverse(row.id)
    assert await texts(game, ORLA) == ["Sabeth Wray sold the boat."]
    assert await texts(game, JOSS) == []


async def test_a_merge_by_promotion_can_be_taken_back(game: Game) -> None:
    held = await game.knowledge.add(ORLA, f"{S} owns a boat.", topic="boat")
    row = await learned(game, f"{S} owns a boat in Lorn.", topic_key="boat")
    store = game._parts.store
    change = Origin("promotion", game.world.now).change("merged", "the two became one")
    await store.db.write(lambda conn: store.knowledge.remove(conn, row, change))
    assert (await game.knowledge.history(row.id)).line is None
    [back] = await game.knowledge.reverse(row.id)
    assert (back.id, back.term, back.content) == (row.id, "short", row.content)
    assert {line.row.id for line in await game.knowledge.known_by(ORLA)} == {held.id, row.id}


async def test_what_a_promotion_retired_holds_again_when_it_is_taken_back(game: Game) -> None:
    held = await game.knowledge.add(JOSS, f"{S} owns a boat.", scope="faction", scope_id="harbour")
    row = await learned(game, f"{S} sold the boat.", valid_from=game.world.now)
    await game.knowledge.rescope(row.id, "faction", "harbour")
    assert await texts(game, JOSS) == ["Sabeth Wray sold the boat."]
    await game.knowledge.reverse(row.id)
    assert await texts(game, JOSS) == ["Sabeth Wray owns a boat."]
    assert (await game.knowledge.get(held.id)).until == ""
    assert {line.row.id for line in await game.knowledge.list(owner=ORLA, scope="entity")} == {row.id}


async def test_what_waits_shows_who_would_know(game: Game) -> None:
    row = await flagged(game)
    [line] = await game.knowledge.queue()
    assert line.line.text == "Sabeth Wray killed the ferryman."
    assert line.line.waits == line.reason == "it is sensitive"
    assert set(line.change.learn) == {JOSS, TAM}
    assert (await game.knowledge.get(row.id)).waits == "it is sensitive"


async def test_approved_it_goes_where_it_would_have(game: Game) -> None:
    row = await flagged(game)
    done = await game.knowledge.approve((await game.knowledge.queue())[0].item.id)
    assert (done.id, done.term, done.scope, done.scope_id) == (row.id, "long", "faction", "harbour")
    assert await texts(game, TAM) == ["Sabeth Wray killed the ferryman."]
    assert await game.knowledge.queue() == []
    [line] = await game.knowledge.audit(knowledge=row.id, actions=["approved"])
    assert line.row.cause == "hand"
    assert "scope: entity" in line.before
    assert "scope: faction" in line.after


async def test_approved_it_takes_the_place_of_what_it_had_lost_against(game: Game) -> None:
    lamp = await game.knowledge.add(ORLA, "The lamp is lit at nine.", confidence=0.95)
    row = await learned(game, "The lamp is lit at ten.", subject_id=None, sensitivity="sensitive", valid_from=game.world.now)
    store = game._parts.store
    over = row.model_copy(update={"valid_to": game.world.now, "superseded_by": lamp.id})
    change = Origin("promotion", game.world.now).change("discarded", "it is contradicted")
    await store.db.write(lambda conn: store.knowledge.update(conn, over, change))
    await store.db.write(lambda conn: store.promotions.flag(conn, row.id, "it is contradicted", "entity", ORLA, change))
    await game.knowledge.approve(row.id)
    assert await texts(game, ORLA) == ["The lamp is lit at ten."]


async def test_rejected_it_is_believed_no_longer_and_narrowed_it_stays_its_owners(game: Game) -> None:
    row = await flagged(game)
    await game.knowledge.reject(row.id)
    assert await texts(game, ORLA) == []
    assert await game.knowledge.queue() == []
    other = await flagged(game, f"{S} stole the harbour book.")
    kept = await game.knowledge.narrow(other.id)
    assert (kept.term, kept.scope) == ("long", "entity")
    assert await texts(game, ORLA) == ["Sabeth Wray stole the harbour book."]
    assert await texts(game, TAM) == []
    with pytest.raises(KnowledgeError, match="Nothing waits") as caught:
        await game.knowledge.approve(other.id)
    assert caught.value.kind == "unknown_item"


async def test_edited_it_goes_on_waiting(game: Game) -> None:
    row = await flagged(game)
    await game.knowledge.edit(row.id, KnowledgeEdit(content="Sabeth Wray buried the ferryman."))
    [line] = await game.knowledge.queue()
    assert line.line.text == "Sabeth Wray buried the ferryman."
    await game.knowledge.approve(line.item.id)
    assert await texts(game, JOSS) == ["Sabeth Wray buried the ferryman."]


# what was believed
async def test_what_was_believed_at_a_round_can_be_asked(game: Game) -> None:
    await game.knowledge.add(ORLA, f"{S} owns a boat.")
    await game.knowledge.add(ORLA, f"{S} fears water.")
    await game.step()
    await game.step()
    await game.knowledge.add(ORLA, f"{S} sold the boat.")

    then = await game.knowledge.ask("What did Orla believe about Sabeth at round 1?")
    assert [(one.line.text, one.now) for one in then] == [
        ("Sabeth Wray owns a boat.", "It ended just now."), ("Sabeth Wray fears water.", "")
    ]
    now = await game.knowledge.ask("what does Orla Venn know about sabeth wray?")
    assert [one.line.text for one in now] == ["Sabeth Wray fears water.", "Sabeth Wray sold the boat."]
    boats = await game.knowledge.believed_at(ORLA, 1, query="the boats")
    assert [one.line.text for one in boats] == ["Sabeth Wray owns a boat."]
    assert [one.line.text for one in await game.knowledge.ask("What did Orla think about boats at round 1")] == ["Sabeth Wray owns a boat."]
    assert await game.knowledge.ask("What did Joss believe at round 1?") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [("Who is Orla?", "Ask, say"), ("What did Nobody believe?", "Nobody with a mind"), ("What did Orla believe at round 99?", "round 99")],
)
async def test_a_question_that_cannot_be_answered_says_how_to_ask(game: Game, text: str, said: str) -> None:
    with pytest.raises(KnowledgeError, match=said):
        await game.knowledge.ask(text)


async def test_who_knows_of_something_is_asked_in_words(game: Game) -> None:
    await game.knowledge.add(ORLA, "The culvert is flooded.", scope="faction", scope_id="harbour")
    await game.knowledge.add(ORLA, f"{S} owns a boat.")
    for text in ("Who knows about the culvert?", "who knew of the culvert at round 0", "Who believes the culvert is flooded?"):
        [found] = await game.knowledge.ask(text)
        assert found.line.text == "The culvert is flooded.", text
        assert found.believers == tuple(game.name(one) for one in await game.knowledge.who_knows(found.line.row.id))
    assert [one.believers for one in await game.knowledge.ask("Who knows about Sabeth?")] == [("Orla Venn",)]
    assert await game.knowledge.ask("Who knows about the mill?") == []


@pytest.mark.parametrize("number", ["-1", "99999", "9" * 5000, "-" + "9" * 5000])
async def test_a_round_that_has_not_been_is_refused(game: Game, number: str) -> None:
    for text in (f"What did Orla believe about Sabeth at round {number}?", f"Who knew of boats at round {number}?"):
        with pytest.raises(KnowledgeError, match="There has been no round") as refused:
            game.knowledge.question(text)
        assert len(str(refused.value)) < 200


async def test_forms_to_ask_in_are_with_people_of_this_world(game: Game) -> None:
    for viewer in (None, ORLA):
        with pytest.raises(KnowledgeError) as refused:
            game.knowledge.question("Was wusste Orla?", viewer)
        forms = re.findall('"([^"]+)"', str(refused.value))
        assert len(forms) == 3
        for form in forms:
            assert game.knowledge.question(form, viewer).about is not None or "at round" in form
    assert game.knowledge.question("What did anybody believe about boats?").entity is None


async def test_a_viewer_asks_by_the_names_it_has_for_others(game: Game) -> None:
    called = game.name(SABETH, ORLA)
    assert "Sabeth" not in called
    assert game.knowledge.question(f"What did I know about {called}?", ORLA).about == SABETH
    assert game.knowledge.question("What did Orla Venn believe?", ORLA).entity == ORLA
    assert game.knowledge.question("What did you believe about Sabeth Wray?", ORLA).about is None  # Orla has not heard that name
    with pytest.raises(KnowledgeError, match="Nobody with a mind"):
        game.knowledge.question("What did Sabeth Wray believe?", ORLA)
    await game.knowledge.add(ORLA, f"{S} owns a boat.")
    assert await game.knowledge.ask("What did you believe about Sabeth?", ORLA) == []
    [found] = await game.knowledge.ask(f"What did you believe about {called}?", ORLA)
    assert "owns a boat" in found.line.text


async def test_an_earlier_belief_is_of_the_factions_of_then(game: Game) -> None:
    await game.knowledge.add(ORLA, "The lamp is lit at nine.", scope="faction", scope_id="harbour")
    await game.step()
    await game.knowledge.set_factions(SABETH, ["harbour"])
    assert await game.knowledge.believed_at(SABETH, 0) == []
    assert len(await game.knowledge.believed_at(SABETH, 1)) == 1


# lists
async def test_lists_are_filtered(game: Game) -> None:
    await game.knowledge.add(ORLA, f"{S} owns a boat.")
    await game.knowledge.add(JOSS, "The lamp is lit at nine.", scope="faction", scope_id="harbour", topic="lamp")
    ended = await game.knowledge.add(JOSS, "The gate is open.")
    await game.knowledge.add(JOSS, "The gate is locked.")
    await learned(game, "It is cold.", subject_id=None)

    async def found(**filters: object) -> list[str]:
        return [line.text for line in await game.knowledge.list(**filters)]  # type: ignore[arg-type]

    assert len(await found()) == 4
    assert await found(scope="faction") == ["The lamp is lit at nine."]
    assert await found(subject=SABETH) == ["Sabeth Wray owns a boat."]
    assert await found(term="short") == ["It is cold."]
    assert await found(text="LAMP") == ["The lamp is lit at nine."]
    assert await found(text="sabeth wray") == ["Sabeth Wray owns a boat."]
    assert [line.row.id for line in await game.knowledge.list(holding=False)] == [ended.id]
    assert len(await found(holding=None)) == 5
    assert await found(kind="decision") == []
    newest = [line.row.seq for line in await game.knowledge.list(newest=True, limit=2)]
    older = [line.row.seq for line in await game.knowledge.list(newest=True, after=newest[-1])]
    assert newest + older == sorted(newest + older, reverse=True)
    assert len(newest + older) == 4
    assert [line.text for line in await game.knowledge.known_by(TAM)] == ["The lamp is lit at nine."]
    [told] = await game.knowledge.list(subject=SABETH, viewer=ORLA)
    assert "Sabeth" not in told.text  # Orla does not know that name yet
    with pytest.raises(KnowledgeError, match="Nobody"):
        await game.knowledge.known_by("nobody")


async def test_the_audit_trail_is_filtered_and_paged(game: Game) -> None:
    row = await game.knowledge.add(ORLA, f"{S} owns a boat.")
    await game.step()
    await game.knowledge.add(JOSS, "It rains.")
    await game.knowledge.edit(row.id, KnowledgeEdit(importance=9))
    await game.knowledge.delete(row.id)

    async def actions(**filters: object) -> list[str]:
        return [line.row.action for line in await game.knowledge.audit(causes=["hand"], **filters)]  # type: ignore[arg-type]

    assert await actions() == ["deleted", "edited", "added", "added"]
    assert await actions(owner=JOSS) == ["added"]
    assert await actions(knowledge=row.id, first_round=1) == ["deleted", "edited"]
    assert await actions(last_round=0) == ["added"]
    [newest, _] = await game.knowledge.audit(causes=["hand"], limit=2)
    assert await actions(before=newest.row.seq, limit=2) == ["edited", "added"]
