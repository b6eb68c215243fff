"""What reaches whom: every figure of DESIGN 6."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mind.perception import FAINT_SUMMARY, Senses, as_perceived, loudness, perceivers, reach
from engine.records.intents import Intent, IntentType, Verb
from engine.records.memory import Grasp
from engine.records.world import Attribute, Entity, Place, Portal, World

if TYPE_CHECKING:
    from tests.engine.mind.conftest import Maker

LOUD: dict[Verb, int] = {"whisper": 1, "say": 4, "shout": 8}


def _speech(verb: Verb = "say", *targets: str, modifiers: tuple[str, ...] = ()) -> Intent:
    return Intent(type="dialogue", verb=verb, text="the words", actor="actor", targets=targets, modifiers=modifiers)


def _deed(*targets: str) -> Intent:
    return Intent(type="action", text="I wave at Bryn", summary="waved", actor="actor", targets=targets)


def _two_rooms(make: Maker, *, sound: int = 10, vision: int = 10, one_way: bool = False, dark: tuple[str, ...] = ()) -> World:
    """Actor, near and mark in the hall; far and beast in the yard beyond one portal; remote in a cave further on."""
    places = tuple(make.place(id_, f"the {id_}", dark=id_ in dark) for id_ in ("hall", "yard", "cave"))
    portals = (
        Portal(id="door", name="the door", a="hall", b="yard", sound=sound, vision=vision, one_way=one_way),
        Portal(id="tunnel", name="the tunnel", a="yard", b="cave"),
    )
    return make.world(
        make.entity("actor", "A", place="hall", order=5), make.entity("near", "N", place="hall", order=4),
        make.entity("mark", "M", place="hall", order=3), make.entity("far", "F", place="yard", order=2),
        make.entity("beast", label="the dog", place="yard", order=1, agent=False), make.entity("remote", "R", place="cave", order=0),
        make.entity("cup", label="the cup", place="hall", order=6, agent=False),
        make.entity("ring", label="the ring", place="hall", order=7, agent=False, holder="actor"),
        places=places, portals=portals,
    )  # fmt: skip


@pytest.mark.parametrize("verb", LOUD)
@pytest.mark.parametrize("sound", range(11))
def test_speech_carries_by_loudness_less_what_the_portal_takes(make: Maker, verb: Verb, sound: int) -> None:
    value = LOUD[verb] - (10 - sound)
    expected: Grasp | None = "full" if value >= 3 else "faint" if value >= 1 else None
    for one_way in (False, True):  # sound passes one-way portals backwards too
        world = _two_rooms(make, sound=sound, one_way=one_way)
        assert dict(perceivers(world, _speech(verb), "hall")).get("far") == expected
        back = _speech(verb).model_copy(update={"actor": "far"})
        assert dict(perceivers(world, back, "yard")).get("near") == expected
        assert "remote" not in dict(perceivers(world, _speech(verb), "hall")), "two portals away is out of reach"


@pytest.mark.parametrize("vision", range(11))
def test_deeds_and_people_are_seen_through_portals_with_vision_of_five_or_more(make: Maker, vision: int) -> None:
    world = _two_rooms(make, vision=vision)
    assert ("far" in dict(perceivers(world, _deed(), "hall"))) == (vision >= 5)
    assert reach(world, "near").beyond == ((("door", "yard", ("far",)),) if vision >= 5 else ())


def test_the_actor_comes_first_then_the_fixed_order(make: Maker) -> None:
    world = _two_rooms(make)
    assert perceivers(world, _speech("shout"), "hall") == [("actor", "full"), ("far", "full"), ("mark", "full"), ("near", "full")]
    assert perceivers(world, _deed(), "hall") == [("actor", "full"), ("far", "full"), ("mark", "full"), ("near", "full")]


def test_a_whisper_is_understood_by_its_targets_and_seen_by_others(make: Maker) -> None:
    world = _two_rooms(make, sound=9)
    assert perceivers(world, _speech("whisper", "mark"), "hall") == [("actor", "full"), ("mark", "full"), ("near", "seen")]
    assert perceivers(world, _speech("say", "mark", modifiers=("Whispering",)), "hall")[1:] == [("mark", "full"), ("near", "seen")]
    beyond = dict(perceivers(_two_rooms(make, sound=10), _speech("whisper", "far"), "hall"))
    assert beyond["far"] == "faint", "a whisper does not carry its words to the next place"


def test_a_whisper_in_the_dark_is_not_seen_but_faintly_heard(make: Maker) -> None:
    world = _two_rooms(make, sound=9, dark=("hall",))
    assert perceivers(world, _speech("whisper", "mark"), "hall") == [("actor", "full"), ("mark", "full"), ("near", "faint")]


def test_darkness_hides_deeds_from_all_but_the_actor_and_no_speech(make: Maker) -> None:
    world = _two_rooms(make, dark=("hall",))
    assert perceivers(world, _deed("mark"), "hall") == [("actor", "full")]
    assert ("near", "full") in perceivers(world, _speech(), "hall")
    lit_beyond = _deed().model_copy(update={"actor": "far"})
    assert dict(perceivers(world, lit_beyond, "yard")).keys() == {"far", "near", "mark", "actor", "remote"}, (
        "who is in the dark sees out of it"
    )


@pytest.mark.parametrize("status", ["asleep", "unconscious", "dead", "inactive"])
def test_the_senseless_perceive_nothing(make: Maker, status: str) -> None:
    world = _two_rooms(make)
    for id_ in ("near", "actor"):
        sleeper = world.entities[id_].model_copy(update={"attributes": {"status": Attribute(name="status", value=status, public=True)}})
        world = world.model_copy(update={"entities": {**world.entities, id_: sleeper}})
    assert perceivers(world, _speech("shout"), "hall") == [("actor", "full"), ("far", "full"), ("mark", "full")], (
        "an actor knows its own deed"
    )
    senses = reach(world, "near")
    assert senses == Senses(viewer_id="near", place="hall", awake=False, dark=False)
    assert reach(world, "mark").here == ("near", "actor"), "but they are seen"


@pytest.mark.parametrize("kind", ["monologue", "action", "dialogue"])
def test_only_minds_perceive_and_thoughts_are_ones_own(make: Maker, kind: IntentType) -> None:
    intent = Intent(type=kind, text="hm", actor="actor")
    found = dict(perceivers(_two_rooms(make), intent, "hall"))
    assert "beast" not in found
    assert "cup" not in found
    assert (found.keys() == {"actor"}) == (kind == "monologue")


def test_what_happens_nowhere_reaches_only_the_actor(make: Maker) -> None:
    world = _two_rooms(make)
    assert perceivers(world, _speech("shout"), None) == [("actor", "full")]
    assert perceivers(world, _speech("shout"), "no such place") == [("actor", "full")]
    assert perceivers(world, _speech().model_copy(update={"actor": "nobody"}), None) == []


def test_senses_of_a_place(make: Maker) -> None:
    world = _two_rooms(make, sound=8)
    assert reach(world, "actor") == Senses(
        viewer_id="actor", place="hall", awake=True, dark=False, here=("mark", "near"), things=("cup",), carried=("ring",),
        beyond=(("door", "yard", ("far",)),), heard_places={"hall": 4, "yard": 2},
    )  # fmt: skip
    assert reach(world, "near").things == ("cup",), "what somebody carries does not lie about"
    assert reach(world, "actor").around == ("mark", "near", "cup", "ring", "far")


def test_senses_in_the_dark(make: Maker) -> None:
    senses = reach(_two_rooms(make, sound=8, dark=("hall",)), "actor")
    assert (senses.dark, senses.here, senses.things, senses.carried) == (True, (), (), ("ring",))
    assert senses.beyond == (("door", "yard", ("far",)),)
    assert senses.heard_places == {"hall": 4, "yard": 2}
    assert reach(_two_rooms(make, dark=("yard",)), "actor").beyond == ()


def test_senses_of_nobody_and_of_somebody_who_is_nowhere(make: Maker) -> None:
    world = make.world(make.entity("ghost", "G", place=None))
    assert reach(world, "ghost") == Senses(viewer_id="ghost", place=None, awake=True, dark=False)
    assert reach(world, "nobody") == Senses(viewer_id="nobody", place=None, awake=False, dark=False)


def test_of_several_ways_to_one_place_the_best_counts(make: Maker) -> None:
    world = _two_rooms(make, sound=0, vision=0)
    window = Portal(id="window", name="the window", a="yard", b="hall", sound=9, vision=5)
    both = world.model_copy(update={"portals": {**world.portals, "window": window}})
    assert dict(perceivers(both, _speech(), "hall"))["far"] == "full"
    assert reach(both, "near").heard_places == {"hall": 4, "yard": 3}
    assert reach(both, "near").beyond == (("window", "yard", ("far",)),)


@pytest.mark.parametrize(
    ("verb", "modifiers", "loud"),
    [
        ("say", (), 4),
        ("say", ("angrily",), 4),
        ("say", ("whispering",), 1),
        ("say", ("shouting",), 8),
        ("whisper", ("shouting",), 1),
        ("shout", (), 8),
        ("shout", ("whispering",), 8),
        ("other", ("in a whisper",), 1),
    ],
)
def test_loudness(verb: Verb, modifiers: tuple[str, ...], loud: int) -> None:
    assert loudness(_speech(verb, modifiers=modifiers)) == loud


def test_words_that_did_not_arrive_are_taken_out() -> None:
    whisper = _speech("whisper", "mark", "near", modifiers=("urgently",)).model_copy(update={"place": "hall"})
    assert as_perceived(whisper, "mark", "full") == whisper
    seen = as_perceived(whisper, "other", "seen")
    assert (seen.text, seen.targets, seen.summary) == ("", ("mark", "near"), "whispered something to {{e:mark}} and {{e:near}}")
    assert as_perceived(_speech("whisper"), "other", "seen").summary == "whispered something"
    faint = as_perceived(whisper, "other", "faint")
    assert faint == Intent(type="dialogue", verb="say", summary=FAINT_SUMMARY, actor="actor", place="hall")
    assert as_perceived(whisper, "actor", "faint") == whisper


def test_the_prose_of_a_deed_stays_with_its_actor() -> None:
    assert as_perceived(_deed(), "actor", "full").text == "I wave at Bryn"
    assert as_perceived(_deed(), "other", "full") == _deed().model_copy(update={"text": ""})


WORDS = st.text(alphabet="xyz ", min_size=1, max_size=30).filter(lambda text: text.strip())


@given(WORDS, st.sampled_from(["faint", "seen"]), st.lists(WORDS, max_size=2))
def test_nothing_of_unheard_speech_is_left(words: str, grasp: Grasp, modifiers: list[str]) -> None:
    intent = Intent(type="dialogue", verb="whisper", text=words, actor="actor", targets=("mark",), modifiers=tuple(modifiers))
    assert as_perceived(intent, "viewer", grasp).text == ""


def _crowd(size: int) -> World:
    """Two agents to a place, in a ring of places."""
    count = size // 2
    places = {f"p{n}": Place(id=f"p{n}", name=f"p{n}") for n in range(count)}
    portals = {f"d{n}": Portal(id=f"d{n}", name="door", a=f"p{n}", b=f"p{(n + 1) % count}") for n in range(count)}
    entities = {f"e{n}": Entity(id=f"e{n}", agent=True, place=f"p{n // 2}", order=n) for n in range(size)}
    return World(slug="w", name="W", now=datetime(1247, 3, 1), places=places, portals=portals, entities=entities)


class _Counting(dict[str, Entity]):
    """Entities that count how often one is looked up and refuse to be walked over."""

    looked_up = 0

    def __getitem__(self, key: str) -> Entity:
        self.looked_up += 1
        return super().__getitem__(key)


def test_perceiving_costs_by_the_place_and_not_by_the_world() -> None:
    """After the index is made, a large world costs as many look-ups as a small one."""
    costs = []
    for size in (20, 2000):
        world = _crowd(size)
        entities = _Counting(world.entities)
        world = world.model_copy(update={"entities": entities})
        reach(world, "e0")  # makes the index
        entities.looked_up = 0
        perceivers(world, Intent(type="dialogue", text="x", actor="e0"), "p0")
        reach(world, "e0")
        costs.append(entities.looked_up)
    assert costs[0] == costs[1]
