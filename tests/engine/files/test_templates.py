"""A world's own templates: where they may stand, and what is said of those that no prompt can be made of."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from engine.files.fields import MAX_TEXT
from engine.files.reader import check_world, read_world
from engine.records.templates import PARTS
from tests.engine.files.conftest import HEAD
from tests.engine.files.mistakes import Mistake

Write = Callable[[Mapping[str, str]], Path]
ACTOR = "You are one of the harbour folk.\n---\nSpeak plainly.\n\nBe brief.\n---\nWhat now?\n"
W = "world.yaml"


def test_a_file_beside_the_world_is_a_template(write: Write) -> None:
    world = read_world(write({"prompts/actor.harbour-1.txt": ACTOR, "prompts/decode.terse.txt": "Split \x1b[31mit.\r\n"})).world
    assert world.templates.keys() == {"actor", "decode"}
    assert world.templates["actor"].name == "actor.harbour-1"
    assert world.templates["actor"].parts == ("You are one of the harbour folk.", "Speak plainly.\n\nBe brief.", "What now?")
    assert world.templates["decode"].parts == ("Split it.",)


def test_so_is_a_text_in_world_yaml(write: Write) -> None:
    text = "".join(f"      {line}\n" for line in ACTOR.splitlines())
    head = f"{HEAD}prompts:\n  actor:\n    version: harbour-1\n    text: |\n{text}  referee: {{version: x, text: Judge @@ will.}}\n"
    world = read_world(write({W: head})).world
    assert world.templates["actor"].parts == ("You are one of the harbour folk.", "Speak plainly.\n\nBe brief.", "What now?")
    assert (world.templates["referee"].name, world.templates["referee"].parts) == ("referee.x", ("Judge @ will.",))


def test_a_world_without_has_none(write: Write) -> None:
    assert read_world(write({"prompts/README.md": "how these are used", "prompts/.actor.old.txt": "x"})).world.templates == {}


@pytest.mark.parametrize("kind", PARTS)
def test_every_template_can_be_replaced(write: Write, kind: str) -> None:
    text = "\n---\n".join(["Say it."] * len(PARTS[kind]))  # type: ignore[index]
    assert list(read_world(write({f"prompts/{kind}.own.txt": text})).world.templates) == [kind]


TEXT = "{version: x, text: "
MISTAKES = [
    Mistake("kind", W, HEAD + "prompts: {⇒acter: " + TEXT + "a}}\n", "prompts.acter", "no key `acter`", "did you mean `actor`?"),
    Mistake("no task", W, HEAD + "prompts: {⇒embed: " + TEXT + "a}}\n", "prompts.embed", "no key `embed`", "`prompts` has: actor"),
    Mistake("key", W, HEAD + "prompts: {decode: {⇒verson: x, text: a}}\n", "prompts.decode.verson", "no key `verson`", "`version`?"),
    Mistake("no version", W, HEAD + "prompts: {decode: ⇒{text: a}}\n", "prompts.decode.version", "`version` is missing", ""),
    Mistake("no text", W, HEAD + "prompts: {decode: ⇒{version: x}}\n", "prompts.decode.text", "`text` is missing", ""),
    Mistake("no map", W, HEAD + "prompts: {decode: ⇒Split it.}\n", "prompts.decode", "should be a map", "key: value"),
    Mistake("version", W, HEAD + "prompts: {decode: {version: ⇒Harbour 1, text: a}}\n", "prompts.decode.version",
            "`Harbour 1` cannot be a version", "`harbour-1`"),
    Mistake("long version", W, HEAD + f"prompts: {{decode: {{version: ⇒{'x' * 41}, text: a}}}}\n", "prompts.decode.version",
            "cannot be a version", "at most 40"),
    Mistake("number", W, HEAD + "prompts: {decode: {version: ⇒1, text: a}}\n", "prompts.decode.version",
            "version `1` may be one of the program's own", "`harbour-1`"),
    Mistake("parts", W, HEAD + "prompts: {actor: {version: x, text: ⇒One.}}\n", "prompts.actor",
            "1 part in a template that has 3", "what is asked at the end"),
    Mistake("too many", W, HEAD + "prompts:\n  decode:\n    version: x\n    text: ⇒|\n      One.\n      ---\n      Two.\n",
            "prompts.decode",
            "2 parts in a template that has 1", "lines of `---`"),
    Mistake("blank part", "prompts/actor.x.txt", "⇒One.\n---\n \n---\nThree.\n", "prompts.actor",
            "the part that says how to act is empty", "lines of `---`"),
    Mistake("empty", "prompts/decode.x.txt", "⇒ \n\n", "prompts.decode", "the template is empty", "what to do"),
    Mistake("long", "prompts/decode.x.txt", "⇒" + "x" * (MAX_TEXT + 1), "prompts.decode", f"longer than {MAX_TEXT} characters", ""),
    Mistake("heading", "prompts/decode.x.txt", "Split.\n  ⇒=== WHO ===\n",
            "prompts.decode", "`=== WHO ===` looks like the heading", "without ==="),
    Mistake("reference", "prompts/decode.x.txt", "Split.\nBe like ⇒@bob.\n",
            "prompts.decode", "no references can stand here: `@bob`", "words"),
    Mistake("token", "prompts/decode.x.txt", "Be like ⇒{{e:bob}}.\n", "prompts.decode", "cannot hold `{{e:`", "write @"),
    Mistake("file kind", "prompts/acter.x.txt", "⇒a", "prompts", "no template is called `acter`", "did you mean `actor`?"),
    Mistake("file without version", "prompts/actor.txt", "⇒a", "prompts", "has a version in its name", "`actor.harbour-1.txt`"),
    Mistake("file version", "prompts/actor.v 2.txt", "⇒a", "prompts.actor", "`v 2` cannot be a version", "`harbour-1`"),
    Mistake("file number", "prompts/actor.2.txt", "⇒a", "prompts.actor", "version `2` may be one of the program's own", "a word before it"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_it_is_reported_once_and_where_it_stands(mistake: Mistake, only_problem: Callable[[str, str], tuple[str, str, str]]) -> None:
    mistake.check(only_problem)


def test_two_versions_of_one_template_are_one_too_many(write: Write) -> None:
    folder = write({"prompts/decode.a.txt": "One.", "prompts/decode.b.txt": "Two."})
    [problem] = check_world(folder)
    assert problem.file == str(folder / "prompts/decode.b.txt")
    assert (problem.message, problem.hint) == (
        "the template `decode` stands twice", f"first in {folder / 'prompts/decode.a.txt'}, line 1, column 1",
    )  # fmt: skip
    folder = write({"prompts/decode.b.txt": "", W: HEAD + "prompts: {decode: {version: c, text: Three.}}\n"})
    (folder / "prompts/decode.b.txt").unlink()
    [problem] = check_world(folder)
    assert problem.message == "the template `decode` stands twice"
    assert problem.hint == f"first in {folder / W}, line 3, column 29"


def test_a_template_that_is_no_text_makes_no_id_unknown_and_hides_no_problem(write: Write) -> None:
    folder = write({"entities/bob.yaml": "at: bar\nagent: true\ngoals: [ask @bil]\n"})
    (folder / "prompts").mkdir()
    (folder / "prompts/decode.x.txt").write_bytes(b"caf\xe9")
    assert [problem.message for problem in check_world(folder)] == ["no entity `@bil`", "not UTF-8 text"]


def test_a_misspelt_folder_of_templates_is_noticed(write: Write) -> None:
    [problem] = check_world(write({"promts/decode.x.txt": "Split."}))
    assert problem.hint == "did you mean `prompts`?"


def test_templates_outside_the_folder_are_not_read(write: Write, tmp_path: Path) -> None:
    folder = write({})
    (tmp_path / "secret").write_text("key")
    (folder / "prompts").mkdir()
    (folder / "prompts/decode.x.txt").symlink_to(tmp_path / "secret")
    [problem] = check_world(folder)
    assert "leads out of the world's folder" in problem.message
