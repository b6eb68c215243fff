import pytest

from engine.errors import CommandError
from engine.records.intents import Intent
from engine.records.world import World
from engine.turns.commands import parse


def one(world: World, text: str, actor: str = "ada_1") -> Intent:
    [intent] = parse(world, actor, text)
    return intent


def test_quoted_text_is_said_to_the_only_one_there(house: World) -> None:
    intent = one(house, '"Is the soup on?"')
    assert (intent.type, intent.verb, intent.text, intent.targets) == ("dialogue", "say", "Is the soup on?", ("bo_1",))


@pytest.mark.parametrize(
    ("text", "verb", "words", "targets"),
    [
        ("say good evening", "say", "good evening", ("bo_1",)),
        ("say to Bo Reed: come here", "say", "come here", ("bo_1",)),
        ("tell Reed the door is open", "say", "the door is open", ("bo_1",)),
        ('whisper to the old porter: "not here"', "whisper", "not here", ("bo_1",)),
        ("shout fire!", "shout", "fire!", ("bo_1",)),
    ],
)
def test_ways_to_speak(house: World, text: str, verb: str, words: str, targets: tuple[str, ...]) -> None:
    intent = one(house, text)
    assert (intent.verb, intent.text, intent.targets) == (verb, words, targets)


@pytest.mark.parametrize(
    ("text", "verb", "summary", "targets", "portal"),
    [
        ("go to the yard", "go", "went on", (), "po_arch"),
        ("go yard", "go", "went on", (), "po_arch"),
        ("go through the cellar door", "go", "went on", (), "po_door"),
        ("look", "look", "looked around", (), None),
        ("look at Bo", "look", "looked at {{e:bo_1}}", ("bo_1",), None),
        ("examine key", "look", "looked at {{e:th_key}}", ("th_key",), None),
        ("take the brass key", "take", "took {{e:th_key}}", ("th_key",), None),
        ("give key to the porter", "give", "gave {{e:th_key}} to {{e:bo_1}}", ("th_key", "bo_1"), None),
        ("unlock the cellar door", "unlock", "unlocked the cellar door", (), "po_door"),
        ("open chest", "open", "opened {{e:th_chest}}", ("th_chest",), None),
        ("wait", "wait", "waited", (), None),
        ("wake up", "wake", "woke", (), None),
        ("inventory", "look", "looked over what was in hand", ("ada_1",), None),
        ("exits", "look", "looked around", (), None),
        ("read the brass key", "other", "read {{e:th_key}}", ("th_key",), None),
        ("take the brass key from Bo Reed", "take", "took {{e:th_key}}", ("th_key", "bo_1"), None),
        ("sleep", "sleep", "slept", (), None),
    ],
)
def test_verbs(house: World, text: str, verb: str, summary: str, targets: tuple[str, ...], portal: str | None) -> None:
    intent = one(house, text)
    assert (intent.type, intent.verb, intent.summary, intent.targets, intent.portal) == ("action", verb, summary, targets, portal)


def test_a_thought_stays_a_thought(house: World) -> None:
    intent = one(house, "think *He knows.*")
    assert (intent.type, intent.text) == ("monologue", "He knows.")


@pytest.mark.parametrize(
    "text", ["I wink at Bo and pour the soup.", 'I nod. "Later," I say.', "take a long and weary breath of the cold night air", ""]
)
def test_prose_is_left_to_the_decoder(house: World, text: str) -> None:
    assert parse(house, "ada_1", text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("take the crown", 'There is no "the crown" here that you know of. Around you: Bo Reed, the brass key, the oak chest'),
        ("go to the moon", 'There is no way "the moon" from here. Ways out: the arch, open, to the yard; the cellar door, locked'),
        ("north", "Nobody here goes by the compass. Ways out: the arch"),
        ("go to the hall", "You are in the hall already. Ways out: the arch"),
        ("look at Cyd Marsh", 'There is no "Cyd Marsh" here that you know of.'),
    ],
)
def test_what_is_not_there_is_said_with_what_is(house: World, text: str, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse(house, "ada_1", text)
    assert str(caught.value).startswith(message)


def test_two_who_look_alike_are_asked_about(house: World) -> None:
    twin = house.entities["bo_1"].model_copy(update={"id": "bo_2", "order": 9})
    ada = house.entities["ada_1"].model_copy(update={"aliases": {}})
    world = house.model_copy(update={"entities": {**house.entities, "ada_1": ada, "bo_2": twin}})
    with pytest.raises(CommandError, match="could be"):
        parse(world, "ada_1", "wake the old porter")


def test_the_only_stair_is_what_up_means(house: World) -> None:
    arch = house.portals["po_arch"].model_copy(update={"name": "the back stairs"})
    world = house.model_copy(update={"portals": {**house.portals, "po_arch": arch}})
    assert one(world, "go upstairs").portal == "po_arch"
    with pytest.raises(CommandError, match="There is no way"):
        parse(house, "ada_1", "go upstairs")
