import pytest

from engine.records.intents import Intent, Verb
from engine.records.world import Attribute, LearnAttribute, Move, SetAttribute, SetPortal, Transfer, World
from engine.turns.rules import rule_on
from engine.world.rules import apply


def act(verb: Verb, *targets: str, portal: str | None = None, actor: str = "ada_1") -> Intent:
    return Intent(type="action", verb=verb, text="…", summary="did it", actor=actor, targets=targets, portal=portal)


def held(world: World, thing: str, holder: str) -> World:
    return apply(world, Transfer(thing=thing, holder=holder))


def test_an_open_way_is_walked_in_a_minute(house: World) -> None:
    ruling = rule_on(house, act("go", portal="po_arch"))
    assert ruling is not None
    assert ruling.possible
    assert ruling.deltas == (Move(entity="ada_1", to="pl_yard"),)
    assert (ruling.minutes, ruling.summary) == (1, "went from the hall to the yard")


def test_a_locked_door_stops_whoever_has_no_key(house: World) -> None:
    ruling = rule_on(house, act("go", portal="po_door"))
    assert ruling is not None
    assert not ruling.possible
    assert ruling.reason == "the cellar door is locked"
    assert ruling.deltas == ()


def test_whoever_holds_the_key_unlocks_on_the_way(house: World) -> None:
    ruling = rule_on(held(house, "th_key", "ada_1"), act("go", portal="po_door"))
    assert ruling is not None
    assert ruling.deltas == (SetPortal(portal="po_door", state="closed"), Move(entity="ada_1", to="pl_cellar"))


@pytest.mark.parametrize(
    ("intent", "reason"),
    [
        (act("take", "th_chest"), "it cannot be moved"),
        (act("take", "bo_1"), "people are not for taking"),
        (act("give", "th_key", "bo_1"), "{{e:th_key}} is not in hand"),
        (act("other", "cyd_1"), "{{e:cyd_1}} is not here"),
        (act("drop", "th_key"), "it is not in hand"),
        (act("wake", "bo_1"), "nobody there is asleep"),
        (act("close", portal="po_door"), "the cellar door is already locked"),
        (act("unlock", portal="po_door"), "the key is missing"),
        (act("open", portal="po_door"), "the cellar door is locked"),
        (act("go"), "there is no such way from here"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_reason(house: World, intent: Intent, reason: str) -> None:
    ruling = rule_on(house, intent)
    assert ruling is not None
    assert not ruling.possible
    assert ruling.reason == reason
    assert ruling.deltas == ()


def test_things_pass_from_hand_to_hand(house: World) -> None:
    taken = rule_on(house, act("take", "th_key"))
    assert taken is not None
    world = apply(house, taken.deltas[0])
    given = rule_on(world, act("give", "th_key", "bo_1"))
    assert given is not None
    assert given.summary == "gave {{e:th_key}} to {{e:bo_1}}"
    assert apply(world, given.deltas[0]).entities["th_key"].holder == "bo_1"


def test_one_does_not_take_from_somebody_awake(house: World) -> None:
    ruling = rule_on(held(house, "th_key", "bo_1"), act("take", "th_key"))
    assert ruling is not None
    assert ruling.reason == "{{e:bo_1}} holds it"


def test_only_a_model_can_tell_of_other_deeds(house: World) -> None:
    assert rule_on(house, act("other", "bo_1")) is None
    assert rule_on(house, act("open", "th_chest")) is None


def test_looking_around_names_the_place_its_people_and_its_ways(house: World) -> None:
    ruling = rule_on(house, act("look"))
    assert ruling is not None
    assert ruling.minutes == 0
    assert ruling.finding == (
        "Stone and smoke. Here: {{e:bo_1}}, {{e:th_key}}, {{e:th_chest}}. {{e:cyd_1}} is in the yard. "
        "Ways out: the arch (open), the cellar door (locked)"
    )


def test_what_is_out_of_sight_cannot_be_looked_at(house: World) -> None:
    ruling = rule_on(apply(house, Move(entity="cyd_1", to="pl_cellar")), act("look", "cyd_1"))
    assert ruling is not None
    assert (ruling.possible, ruling.reason) == (False, "{{e:cyd_1}} is not in sight")


def test_opening_a_thing_reveals_what_it_keeps(house: World) -> None:
    kept = {**house.entities["th_chest"].attributes, "inside": Attribute(name="inside", value="Nothing but moths.")}
    chest = house.entities["th_chest"].model_copy(update={"attributes": kept})
    world = house.model_copy(update={"entities": {**house.entities, "th_chest": chest}})
    ruling = rule_on(world, act("open", "th_chest").model_copy(update={"summary": "opened {{e:th_chest}}"}))
    assert ruling is not None
    assert ruling.deltas == (LearnAttribute(viewer="ada_1", entity="th_chest", name="inside"),)
    assert ruling.finding == "Nothing but moths"
    refused = rule_on(held(world, "th_chest", "bo_1"), act("other", "th_chest").model_copy(update={"summary": "searched {{e:th_chest}}"}))
    assert refused is not None
    assert refused.reason == "{{e:bo_1}} holds it"


def test_a_sleeper_wakes_itself(house: World) -> None:
    asleep = apply(house, SetAttribute(entity="ada_1", name="status", value="asleep"))
    ruling = rule_on(asleep, act("wake"))
    assert ruling is not None
    assert ruling.deltas == (SetAttribute(entity="ada_1", name="status", value="awake"),)
