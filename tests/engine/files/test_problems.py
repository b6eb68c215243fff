"""All problems of a world at once, no more than there are, and in bounded time whatever the files hold."""

import os
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import WorldFileError
from engine.files.problems import LIMIT, Problem, meant, near
from engine.files.reader import check_world, read_world
from engine.files.sources import MAX_FILE_BYTES, MAX_FILES
from engine.records.authored import AuthoredWorld

Write = Callable[[Mapping[str, str]], Path]
HEAD = "name: Test\nclock: {start: 1247-03-01T17:40}\n"


def test_three_planted_mistakes_are_the_three_problems(write: Write) -> None:
    folder = write({
        "places/house.yaml": "- id: bar\n  name: the bar\n  exits:\n    - {to: celar, name: trap door}\n- {id: cellar, name: c}\n",
        "entities/bob.yaml": "at: bar\nagent: true\ngoals:\n  - |\n    find out where\n    @bill hid the key, and why @bil lied\n",
        "lore/l.yaml": "- id: one\n  text: Nobody swims here.\n  scoop: world\n",
    })
    place, entity, lore = (str(problem).removeprefix(f"{folder}{os.sep}") for problem in check_world(folder))
    assert place == "places/house.yaml:4:12: places.bar.exits[1].to: no place `celar` (did you mean `cellar`?)"
    assert entity == "entities/bob.yaml:6:32: entities.bob.goals[1]: no entity `@bil` (did you mean `bill`?)"
    assert lore == "lore/l.yaml:3:3: lore.one.scoop: lore has no key `scoop` (did you mean `scope`?)"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("places/house.yaml", "- {id: bar, name: the bar\n- {id: cellar, name: c}\n"),
        ("places/house.yaml", "- id: bar\n  name: 'the bar\n- id: cellar\n"),
        ("entities/bill.yaml", "id: bill\nat: cellar: x\n"),
        ("entities/bill.yaml", "at: cellar\nvoice: [*She smiles*]\n"),
        ("entities/bill.yaml", "- id: bill\n\tat: cellar\n"),
        ("entities/bill.yaml", "bill\n"),
        ("entities/bill.yaml", "- {at: cellar}\n"),
        ("world.yaml", HEAD + "entitis: []\n"),
        ("world.yaml", HEAD + "lore: {one: text}\n"),
    ],
)
def test_what_stands_in_a_broken_file_is_not_called_unknown(write: Write, name: str, text: str) -> None:
    folder = write({name: text, "entities/bob.yaml": "at: bar\nagent: true\naliases: {bill: him}\ngoals: [ask @bill]\n"})
    [problem] = check_world(folder)
    assert problem.file == str(folder / name)


def test_a_file_that_is_not_text_hides_no_other_problem(write: Write) -> None:
    folder = write({"entities/bob.yaml": "at: bar\nagent: true\nhobbits: [x]\naliases: {bill: him}\n"})
    (folder / "entities/bill.yaml").write_bytes(b"id: bill\nat: caf\xe9\n")
    assert [(problem.line, problem.column, problem.message) for problem in check_world(folder)] == [
        (2, 8, "not UTF-8 text"), (3, 1, "an entity has no key `hobbits`"),
    ]  # fmt: skip


def test_an_empty_world_lacks_places_and_people(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text(HEAD)
    assert [problem.path for problem in check_world(tmp_path)] == ["places", "entities"]


def test_missing_worlds_are_problems_too(tmp_path: Path) -> None:
    (tmp_path / "wrld.yaml").write_text(HEAD)
    [no_head] = check_world(tmp_path)
    assert no_head.hint == "did you mean `wrld.yaml`?"
    for path in (tmp_path / "gone", tmp_path / "gone.yaml", tmp_path / ("x" * 300), Path("a\0b")):
        with pytest.raises(WorldFileError):
            read_world(path)


def test_a_misspelt_folder_is_noticed(write: Write) -> None:
    [problem] = check_world(write({"entites/carl.yaml": "at: bar\n"}))
    assert problem.hint == "did you mean `entities`?"


def test_files_outside_the_folder_are_not_read(write: Write, tmp_path: Path) -> None:
    folder = write({})
    (tmp_path / "secret.yaml").write_text("at: bar\n")
    (folder / "entities" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "entities" / "loop.yaml").symlink_to(folder / "entities" / "loop.yaml")
    os.mkfifo(folder / "entities" / "pipe.yaml")
    link, loop, pipe = check_world(folder)
    assert "leads out of the world's folder" in link.message
    assert "loop.yaml" in loop.file
    assert pipe.message == "not a file"


def test_near_names() -> None:
    known = ["tavern", "cavern", "bryn_harrow", "Cellar", "x"]
    assert near("taverm", known)[0] == "tavern"
    assert near("cellar", known) == ["Cellar"]
    assert near("bryn", known) == ["bryn_harrow"]
    assert near("zebra", known) == []
    assert meant(["a", "b"]) == "did you mean `a` or `b`?"


def _bomb() -> str:
    pairs = pairwise("abcdefghijklmnop")
    return "a: &a [lol]\n" + "".join(f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in pairs)


HOSTILE = {
    "alias bomb": _bomb(),
    "deep lists": "[" * 500_000,
    "deep maps": "{a: " * 200_000,
    "deep blocks": "".join(" " * depth + "a:\n" for depth in range(1000)),
    "deep keys": "? " * 500_000,
    "many values": "places:\n" + "- a\n" * 200_000,
    "many doubles": "a: 1\n" * 40_000,
    "many references": HEAD + "places:\n" + "".join(f"- {{id: p{n}, name: x, description: '{'@bob ' * 50}'}}\n" for n in range(2000)),
    "many unknown places": HEAD + "places:\n" + "".join(f"- {{id: p{n}, name: x, exits: [{{to: q{n}, name: d}}]}}\n" for n in range(4000)),
    "long chain": HEAD + "places: [{id: p, name: x}]\nentities:\n" + "".join(f"- {{id: e{n}, holder: e{n + 1}}}\n" for n in range(8000)),
    "tabs": "\t" * 1_000_000,
    "one long key": "x" * 1_000_000 + ": 1",
    "too large": "# " + "x" * MAX_FILE_BYTES,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused_soon(tmp_path: Path, text: str) -> None:
    file = tmp_path / "world.yaml"
    file.write_text(text)
    start = time.perf_counter()
    problems = check_world(file)
    assert 0 < len(problems) <= LIMIT
    assert time.perf_counter() - start < 10  # seconds; measured below 1.5 with all cores busy


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text(HEAD)
    (tmp_path / "lore").mkdir()
    for number in range(MAX_FILES + 1):
        (tmp_path / "lore" / f"l{number}.yaml").touch()
    assert any(f"may hold {MAX_FILES} files" in problem.message for problem in check_world(tmp_path))


def _outcome(path: Path) -> AuthoredWorld | tuple[Problem, ...]:
    problems = check_world(path)
    if not problems:
        return read_world(path)
    with pytest.raises(WorldFileError) as caught:
        read_world(path)
    assert list(caught.value.problems) == problems
    return tuple(problems)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=300))
def test_any_bytes_are_a_world_or_a_list_of_problems(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "any.yaml"
    file.write_bytes(data)
    assert _outcome(file) == _outcome(file)


KEYS = (
    "id name at to exits places entities lore clock start attributes value visible public bob bar buffer ledger kind said thought text by "
    "agent true holder policies handoff floor state locked key aliases goals scope entity holders who position one_way when_open pinned "
    "seed @bob @ @@ {{e:bob}} -3d -10m 1247-03-01T17:40 10 -1 nan << *x"
)
WORDS = st.sampled_from([*KEYS.split(), "", " ", "&a b", "!t x", "# x", "\x00", "\ud800", "\u202e", "a\nb"])
TREES = st.recursive(
    WORDS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=40,
)


def _yaml(tree: object) -> str:
    """A tree as flow YAML with every text in double quotes."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{_yaml(key)}: {_yaml(value)}" for key, value in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(_yaml, tree)) + "]"
    return '"' + "".join(f"\\U{ord(char):08x}" if not char.isalnum() else char for char in str(tree)) + '"'


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(world=st.dictionaries(WORDS, TREES, max_size=5), entity=TREES, place=TREES)
def test_any_tree_is_a_world_or_a_list_of_problems(tmp_path: Path, world: dict[str, object], entity: object, place: object) -> None:
    tree = {
        "name": "x", "clock": "1247-03-01T17:40", **world,
        "places": {"bar": {"name": "b"}, "cellar": place}, "entities": {"bob": {"at": "bar", "agent": "true"}, "bill": entity},
    }  # fmt: skip
    file = tmp_path / "any.yaml"
    file.write_text(_yaml(tree), encoding="utf-8")
    found = _outcome(file)
    assert isinstance(found, AuthoredWorld) or all(problem.line == 1 for problem in found)
