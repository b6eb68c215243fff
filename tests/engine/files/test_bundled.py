"""The worlds that come with the program, and the page that tells how to write one."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import WorldFileError
from engine.files import bundled
from engine.files.bundled import bundled_worlds, peek
from engine.files.reader import check_world, read_world
from engine.records.authored import AuthoredWorld
from engine.records.tokens import referred
from engine.records.world import Portal

LANTERN = bundled.worlds_folder() / "salt-lantern"


@pytest.fixture(scope="module")
def lantern() -> AuthoredWorld:
    return read_world(LANTERN)


def test_every_bundled_world_is_sound() -> None:
    found = bundled_worlds()
    assert "salt-lantern" in [info.slug for info in found]
    for info in found:
        assert check_world(info.path) == []
        assert info.name
        assert info.description


def test_worlds_inside_the_installed_package_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(LANTERN, tmp_path / "worlds" / "copy")
    (tmp_path / "worlds" / "broken").mkdir()
    (tmp_path / "worlds" / "broken" / "world.yaml").write_text("a: [")
    monkeypatch.setattr(bundled, "_ENGINE", tmp_path)
    assert [info.slug for info in bundled_worlds()] == ["copy"]


def test_peek_reads_the_head_only(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text('name: "A\\x1b[1mB"\ndescription: |\n  Two\n  lines.\nentities: {broken: }\n')
    info = peek(tmp_path)
    assert (info.name, info.description, info.path) == ("AB", "Two\nlines.", tmp_path)
    with pytest.raises(WorldFileError, match=r"no world.yaml"):
        peek(tmp_path / "..")


def test_the_page_about_writing_worlds_is_true(tmp_path: Path) -> None:
    page = (bundled.worlds_folder() / "README.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    named = [block for block in blocks if block.startswith("# ")]
    for block in named:
        file = tmp_path / block.splitlines()[0].removeprefix("# ")
        file.parent.mkdir(exist_ok=True)
        file.write_text(block)
    (tmp_path / "places" / "more.yaml").write_text("{id: pl_cellar, name: the cellar}")
    others = "[{id: joss_pell, at: pl_taproom}, {id: tam_osk, at: pl_taproom}, {id: th_iron_key, holder: bryn_harrow}]"
    (tmp_path / "entities" / "others.yaml").write_text(others)
    assert check_world(tmp_path) == []
    assert len(named) == 4


def _way(lantern: AuthoredWorld, name: str) -> Portal:
    return next(portal for portal in lantern.world.portals.values() if portal.name == name)


def test_the_lantern_has_what_a_demo_needs(lantern: AuthoredWorld) -> None:
    world = lantern.world
    assert len(world.places) >= 6
    assert len(world.agents()) == 7
    assert {portal.state for portal in world.portals.values()} == {"open", "closed", "locked"}
    thin = _way(lantern, "the plank door")
    assert (thin.state, thin.vision, thin.sound) == ("closed", 0, 9)
    hatch = _way(lantern, "the cellar hatch")
    assert hatch.key is not None
    assert world.entities[hatch.key].holder is not None
    window = _way(lantern, "the bay window")
    assert (window.vision >= 5, window.sound) == (True, 0)
    for person in world.agents():
        assert person.goals
        assert person.voice
        assert 4 <= len(person.habits) <= 6
        name, label = person.attributes["name"], person.attributes["label"]
        assert label.public
        assert not name.public
        assert person.id in name.known_to
        assert len([entry for entry in lantern.buffer if entry.owner_id == person.id]) >= 10


def _read_by_others(lantern: AuthoredWorld) -> Iterator[str]:
    """All texts that somebody other than a name's owner can come to read."""
    world = lantern.world
    yield from (text for place in world.places.values() for text in (place.name, place.description))
    yield from (portal.name for portal in world.portals.values())
    yield from (item.text for item in lantern.lore)
    for entity in world.entities.values():
        yield from (*entity.goals, *entity.habits)
        yield from (attribute.value for name, attribute in entity.attributes.items() if name != "name")
    yield from (entry.intent.summary for entry in lantern.buffer)
    yield from (text for memory in lantern.ledger for text in (memory.content, *memory.quotes))


def test_the_lantern_names_people_by_reference_only(lantern: AuthoredWorld) -> None:
    people = lantern.world.agents()
    names = {part for person in people for part in (person.value("name") or "").split()}
    for text in _read_by_others(lantern):
        assert not names & set(re.findall(r"\w+", text)), text


def test_names_that_were_said_are_names_the_hearer_uses(lantern: AuthoredWorld) -> None:
    people = lantern.world.agents()
    for entry in lantern.buffer:
        spoken = set(re.findall(r"\w+", entry.intent.text))
        for person in people:
            if spoken & set((person.value("name") or "").split()) and person.id != entry.owner_id:
                assert person.id in lantern.world.entities[entry.owner_id].aliases, entry.intent.text


def test_ids_are_no_words_of_prose(lantern: AuthoredWorld) -> None:
    world = lantern.world
    assert all("_" in key for key in (*world.places, *world.portals, *world.entities, *(item.id for item in lantern.lore)))


def test_memories_never_speak_of_their_owner_as_him_or_her(lantern: AuthoredWorld) -> None:
    """`@aldous took off his cap` would be told to Aldous as `You took off his cap`."""
    for entry in lantern.buffer:
        if entry.intent.actor == entry.owner_id and not referred(entry.intent.summary):
            assert not {"his", "her", "he", "she", "himself", "herself"} & set(entry.intent.summary.split()), entry.intent.summary


def test_threats_stand_among_the_first_candidates(lantern: AuthoredWorld) -> None:
    threats = [entry for entry in lantern.buffer if "by dawn" in entry.intent.text]
    assert {entry.owner_id for entry in threats} >= {"orla_venn", "ketil_rusk", "joss_pellam"}
    for threat in threats:
        later = [entry for entry in lantern.buffer if entry.owner_id == threat.owner_id and entry.timestamp > threat.timestamp]
        assert len(later) >= 8  # the newest eight are protected from the first handoff
