"""What a sound world's files come to."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from engine.errors import WorldFileError
from engine.files.reader import check_world, read_world
from engine.records.intents import Intent, Outcome
from engine.records.knowledge import LifecyclePolicy, PromotionPolicy
from engine.records.policies import HandoffPolicy, Policies, RecallPolicy
from engine.records.sessions import CollapsePolicy

Write = Callable[[Mapping[str, str]], Path]
START = datetime(1247, 3, 1, 17, 40)


def bob(extra: str) -> dict[str, str]:
    return {"entities/bob.yaml": "id: bob\nat: bar\nagent: true\n" + extra}


def test_the_example_of_the_design_reads(write: Write) -> None:
    world = read_world(
        write(
            bob(
                "factions: [harbour]\ngoals: [keep the debt secret]\nhabits: [wipes the counter when nobody speaks]\n"
                "attributes:\n  name: {value: Bob Harrow, visible: [bob]}\n"
                "  appearance: {value: A tall bald man in an apron, visible: public}\n"
                "  secret: {value: He owes the harbour master, visible: [bob]}   # [] = nobody but the narrator\n"
                "aliases: {bill: the quiet one}\n"
                'buffer:\n  - {at: -10m, kind: action, text: "@bob wipes the counter."}\n'
                'ledger:\n  - {at: -3d, who: [bob, bill], importance: 6, text: "@bob and @bill quarrelled over cards."}\n'
            )
        )
    )
    person = world.world.entities["bob"]
    assert (person.place, person.agent, person.factions) == ("bar", True, ("harbour",))
    assert (person.goals, person.habits) == (("keep the debt secret",), ("wipes the counter when nobody speaks",))
    assert person.attributes["name"].known_to == ("bob",)
    assert person.attributes["appearance"].public
    assert person.aliases == {"bill": "the quiet one"}
    [entry] = world.buffer
    assert entry.intent == Intent(type="action", summary="wiped the counter", actor="bob")
    assert (entry.owner_id, entry.timestamp, entry.location_id, entry.round) == ("bob", START - timedelta(minutes=10), "bar", 0)
    assert entry.outcome == Outcome(is_valid=True)
    [memory] = world.ledger
    assert (memory.content, memory.importance) == ("{{e:bob}} and {{e:bill}} quarrelled over cards.", 6)
    assert (memory.involved_entity_ids, memory.timestamp) == (("bob", "bill"), START - timedelta(days=3))
    assert (world.world.slug, world.world.name, world.world.now, world.world.round) == ("tavern", "Test", START, 0)


def test_entities_act_in_the_order_of_files_and_lists(write: Write) -> None:
    folder = write({
        "world.yaml": "name: T\nclock: 1247-03-01T17:40\nentities: [{id: zoe, at: bar}, {id: abe, at: bar}]\n",
        "entities/bob.yaml": "[{id: bob, at: bar, agent: true}, {id: ann, at: bar}]",
    })
    ordered = sorted(read_world(folder).world.entities.values(), key=lambda entity: entity.order)
    assert [entity.id for entity in ordered] == ["zoe", "abe", "bill", "bob", "ann"]


def test_a_file_gives_its_name_to_its_one_item(write: Write) -> None:
    assert "carl" in read_world(write({"entities/carl.yaml": "at: bar\n"})).world.entities


@pytest.mark.parametrize("spelling", ["folder", "head", "single"])
def test_a_world_is_a_folder_or_its_head_or_one_file(write: Write, tmp_path: Path, spelling: str) -> None:
    folder = write({})
    single = tmp_path / "one.yaml"
    single.write_text("name: One\nclock: 1247-03-01 17:40:30\nplaces: {bar: {name: the bar}}\nentities: {bob: {at: bar, agent: yes}}\n")
    path = {"folder": folder, "head": folder / "world.yaml", "single": single}[spelling]
    world = read_world(path).world
    assert (world.slug, set(world.entities)) == (("one", {"bob"}) if spelling == "single" else ("tavern", {"bob", "bill"}))


def test_texts_stay_as_typed(write: Write) -> None:
    found = read_world(write(bob("goals: [no, 1.10, 012, 12:30, 2026-01-01, 1e3, ~, null, yes]\n"))).world.entities["bob"]
    assert found.goals == ("no", "1.10", "012", "12:30", "2026-01-01", "1e3", "~", "null", "yes")


def test_a_file_with_windows_line_ends_and_a_mark_reads_the_same(write: Write) -> None:
    plain = read_world(write({}))
    folder = write({"places/house.yaml": "", "entities/bob.yaml": ""})
    for file in folder.rglob("*.yaml"):
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_world(folder) == plain


def test_references_become_tokens_and_addresses_do_not(write: Write) -> None:
    text = "@bob's mug, @bill. @@depth, (@bob) @bob-like mail bob@bill.example, @bill!"
    lore = f'- {{id: l1, text: "{text}"}}'
    [item] = read_world(write({"lore/l.yaml": lore})).lore
    assert item.text == "{{e:bob}}'s mug, {{e:bill}}. @depth, ({{e:bob}}) {{e:bob}}-like mail bob@bill.example, {{e:bill}}!"


def test_an_id_with_a_hyphen_wins_over_its_first_half(write: Write) -> None:
    files = {"entities/bob-like.yaml": "at: bar\n", "lore/l.yaml": "- {id: l1, text: see @bob-like}"}
    assert read_world(write(files)).lore[0].text == "see {{e:bob-like}}"


def test_short_attributes_are_public_for_looks_only(write: Write) -> None:
    extra = (
        "attributes: {name: Bob, label: the man, appearance: tall, status: asleep, secret: a debt, "
        "odd: {value: x, visible: []}, open: {value: y, visible: public}}\n"
    )
    found = read_world(write(bob(extra))).world.entities["bob"].attributes
    assert {name for name, attribute in found.items() if attribute.public} == {"label", "appearance", "status", "open"}
    assert {name: attribute.known_to for name, attribute in found.items() if not attribute.public} == {
        "name": ("bob",), "secret": ("bob",), "odd": (),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("stated", "as_is", "other"),
    [
        ("", (10, 10), (0, 5)),
        (", vision: 8, sound: 3", (8, 3), (0, 0)),
        (", state: open, when_closed: {sound: 9}", (10, 10), (0, 9)),
        (", state: closed", (0, 5), (10, 10)),
        (", state: locked, vision: 8, sound: 0", (8, 0), (10, 10)),
        (", state: closed, sound: 9, when_open: {vision: 7, sound: 8}", (0, 9), (7, 8)),
        (", state: closed, when_open: {sound: 7}", (0, 2), (10, 7)),
        (", state: closed, when_closed: {vision: 1, sound: 2}", (1, 2), (10, 10)),
    ],
)
def test_ways_carry_what_is_stated_or_sensible(write: Write, stated: str, as_is: tuple[int, int], other: tuple[int, int]) -> None:
    places = f"[{{id: bar, name: b, exits: [{{to: cellar, name: door{stated}}}]}}, {{id: cellar, name: c}}]"
    [portal] = read_world(write({"places/house.yaml": places})).world.portals.values()
    assert ((portal.vision, portal.sound), (portal.vision_other, portal.sound_other)) == (as_is, other)
    assert (portal.a, portal.b, portal.one_way, portal.name) == ("bar", "cellar", False, "the door")


def test_a_way_told_from_both_sides_is_one(write: Write) -> None:
    places = (
        "- {id: bar, name: b, exits: [{to: cellar, name: trap door, state: locked, key: pin},\n"
        "    {to: cellar, name: The Chute, one_way: true}]}\n"
        "- {id: cellar, name: c, exits: [{to: bar, name: the trap door, state: locked, sound: 3},\n"
        "    {to: bar, name: The Chute, one_way: true}]}\n"
    )
    world = read_world(write({"places/house.yaml": places, "entities/pin.yaml": "holder: bob\n"})).world
    trap, down, up = world.portals.values()
    assert (trap.name, trap.state, trap.sound, trap.key, trap.one_way) == ("the trap door", "locked", 3, "pin", False)
    assert [(way.a, way.b, way.one_way) for way in (down, up)] == [("bar", "cellar", True), ("cellar", "bar", True)]
    assert len({trap.id, down.id, up.id}) == 3
    assert [way.id for way in world.exits("bar")] == [trap.id, down.id]


def test_carried_things_are_where_their_holder_is(write: Write) -> None:
    files = {"entities/things.yaml": "[{id: letter, holder: chest}, {id: chest, holder: bill}, {id: mug, at: bar}]"}
    found = read_world(write(files)).world.entities
    assert [(found[one].place, found[one].holder) for one in ("letter", "chest", "mug")] == [
        ("cellar", "chest"), ("cellar", "bill"), ("bar", None),
    ]  # fmt: skip


def test_places_have_light_and_position(write: Write) -> None:
    places = "[{id: bar, name: b, light: dark, position: [2, -1], attributes: {smell: tar}}, {id: cellar, name: c}]"
    bar = read_world(write({"places/house.yaml": places})).world.places["bar"]
    assert bar.position == (2, -1)
    assert {name: (attribute.value, attribute.public) for name, attribute in bar.attributes.items()} == {
        "smell": ("tar", True), "light": ("dark", True),
    }  # fmt: skip


MEMORIES = [
    ("kind: dialogue, by: bill, to: bob, text: By dawn., modifiers: [whispering]",
     Intent(type="dialogue", verb="whisper", text="By dawn.", actor="bill", targets=("bob",), modifiers=("whispering",))),
    ("kind: said, to: [bill], text: '\"Out.\"', modifiers: shouting",
     Intent(type="dialogue", verb="shout", text="Out.", actor="bob", targets=("bill",), modifiers=("shouting",))),
    ("kind: thought, text: I trust @bill.", Intent(type="monologue", verb="think", text="I trust {{e:bill}}.", actor="bob")),
    ("text: '@bill gave @bob the key.'", Intent(type="action", summary="gave {{e:bob}} the key", actor="bill", targets=("bob",))),
    ("text: Wipes the counter and goes out., kind: done", Intent(type="action", summary="wiped the counter and went out", actor="bob")),
    ("by: bill, text: sat down, to: bob", Intent(type="action", summary="sat down", actor="bill", targets=("bob",))),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "intent"), MEMORIES, ids=[entry[:24] for entry, _ in MEMORIES])
def test_memories_are_intents(write: Write, entry: str, intent: Intent) -> None:
    [found] = read_world(write(bob(f"buffer: [{{at: -1h, {entry}}}]\n"))).buffer
    assert found.intent == intent
    assert (found.outcome is not None) == (intent.type == "action")


def test_memories_can_be_pinned_refused_and_elsewhere_and_come_in_order_of_time(write: Write) -> None:
    extra = (
        "buffer:\n- {at: -5m, text: sat down}\n"
        "- {at: 1247-03-01 09:00, text: tried the door, failed: it is locked, place: cellar, pinned: true}\n"
    )
    first, second = read_world(write(bob(extra))).buffer
    assert (first.timestamp, first.pinned, first.location_id) == (datetime(1247, 3, 1, 9), "hand", "cellar")
    assert first.outcome == Outcome(is_valid=False, reason="it is locked")
    assert (second.pinned, second.location_id) == ("none", "bar")


def test_lore_policies_and_seed(write: Write) -> None:
    files = {
        "world.yaml": "name: T\nclock: {start: 1247-03-01T17:40}\nseed: 7\n"
        "policies: {handoff: {floor: 4, ceiling: 0.5}, recall: {meaning: 0.3}}\n",
        "entities/bob.yaml": "at: bar\nagent: true\nfactions: [harbour]\n",
        "lore/all.yaml": "lore:\n- {id: a, text: A., keys: [lamp, light], constant: true}\n"
        "- {id: b, text: B., scope: faction, holders: harbour}\n- {id: c, text: C., scope: entity, holders: [bill]}\n",
    }
    world = read_world(write(files))
    assert world.world.seed == 7
    assert world.policies.handoff == HandoffPolicy(floor=4, ceiling=0.5)
    assert world.policies.recall == RecallPolicy(meaning=0.3)
    assert [(item.id, item.keys, item.constant, item.scope, item.holders) for item in world.lore] == [
        ("a", ("lamp", "light"), True, "world", ()), ("b", (), False, "faction", ("harbour",)), ("c", (), False, "entity", ("bill",)),
    ]  # fmt: skip


def test_policies_of_sessions_and_knowledge(write: Write) -> None:
    world = read_world(write({
        "world.yaml": "name: T\nclock: {start: 1247-03-01T17:40}\npolicies:\n  sessions:\n    pairs: all\n"
        "    collapse: {mode: hybrid, max_turns: 20, extract_tasks: no}\n    agents: {bob: {max_turns: 8}, bill: {require_pin: true}}\n"
        "  promotion: {every_hours: 2.5, scope: faction, sensitive: [debt, ' the  cellar ']}\n  lifecycle: {warm: 0.4}\n",
    }))  # fmt: skip
    usual = CollapsePolicy(mode="hybrid", max_turns=20, extract_tasks=False)
    sessions = world.policies.sessions
    assert (sessions.pairs, sessions.collapse) == ("all", usual)
    assert sessions.of("bob") == usual.model_copy(update={"max_turns": 8})
    assert sessions.of("bill") == usual.model_copy(update={"require_pin": True})
    assert sessions.of("anybody") == usual
    assert world.policies.promotion == PromotionPolicy(every_hours=2.5, scope="faction", sensitive=("debt", "the cellar"))
    assert world.policies.lifecycle == LifecyclePolicy(warm=0.4)


def test_what_a_world_does_not_set_is_as_ever(write: Write) -> None:
    policies = read_world(write({"world.yaml": "name: T\nclock: 1247-03-01T17:40\npolicies: {sessions: {}}\n"})).policies
    assert policies == Policies()


def test_texts_are_cleaned(write: Write) -> None:
    extra = 'goals: ["a\\x1b[31mred\\x1b[0m\\0 \\u202etext"]\nvoice: ["[red] stays [/]"]\n'
    found = read_world(write(bob(extra))).world.entities["bob"]
    assert (found.goals, found.voice) == (("ared text",), ("[red] stays [/]",))


def test_the_error_names_the_world_and_its_first_problems(write: Write) -> None:
    folder = write({"entities/bob.yaml": "at: barr\nagent: true\ngoals: ['@bil']\n"})
    with pytest.raises(WorldFileError, match="2 problems in this world") as caught:
        read_world(folder)
    assert list(caught.value.problems) == check_world(folder)
    assert "bob.yaml:1:5: entities.bob.at: no place `barr` (did you mean `bar`?)" in str(caught.value)
