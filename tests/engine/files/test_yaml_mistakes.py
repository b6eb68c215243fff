"""Mistakes in the shape of files: YAML that is not read, and texts, lists and maps in the wrong place.

Each is the only problem found, and stands where `⇒` is.
"""

from collections.abc import Callable

import pytest

from tests.engine.files.mistakes import Mistake

HEAD = "name: Test\nclock: {start: 1247-03-01T17:40}\n"
W, P, B, L = "world.yaml", "places/house.yaml", "entities/bob.yaml", "lore/l.yaml"
BOB = "id: bob\nat: bar\nagent: true\n"
CELLAR = "- {id: cellar, name: c}\n"


MISTAKES = [
    Mistake("anchor", B, BOB + "goals: [⇒&a x]\n", "", "anchors are not read: `&a`", "quotes"),
    Mistake("alias", B, BOB + "goals: [⇒*She, x]\n", "", "aliases are not read: `*She`", "quotes"),
    Mistake("tag", B, BOB + "goals: [⇒!!int 3]\n", "", "tags are not read: `tag:yaml.org,2002:int`", "quotes"),
    Mistake("tag directive", L, "⇒%TAG !e! tag:x,2000:\n---\n- {id: a, text: x}\n", "", "tag directives", "%TAG"),
    Mistake("merge", B, BOB + "⇒<<: {goals: [x]}\n", "", "merge keys are not read", "write the values out"),
    Mistake("second document", B, BOB + "⇒---\nid: zoe\n", "", "a second document begins here", "---"),
    Mistake("double key", B, BOB + "goals: [x]\n⇒at: cellar\n", "", "the key `at` stands twice", "first on line 2, column 1"),
    Mistake("list as key", B, BOB + "⇒[a, b]: c\n", "", "cannot be a key", "quotes"),
    Mistake("empty key", B, BOB + "⇒'': c\n", "", "a key is empty", ""),
    Mistake("empty file", B, "⇒# nothing\n", "", "the file is empty", ""),
    Mistake("starred text", B, BOB + "goals:\n  - *She ⇒smiles* at him\n", "", "not YAML", "begins with *"),
    Mistake("braces", B, BOB + "voice:\n  - {{char}} ⇒waves\n", "", "not YAML", "begins with {"),
    Mistake("quoted start", B, BOB + 'voice:\n  - "Hi," ⇒she said\n', "", "not YAML", 'begins with "'),
    Mistake("at start", B, BOB + "voice:\n  - ⇒@@depth\n", "", "not YAML", "begins with @"),
    Mistake("colon", B, BOB + "goals:\n  - note: Name⇒: Bob\n", "", "not YAML", "colon goes in quotes"),
    Mistake("tab", B, BOB + "goals:\n⇒\t- x\n", "", "not YAML", "spaces, not with tabs"),
    Mistake("bell", B, BOB + "goals: [⇒\x07]\n", "", "cannot stand in a file: U+0007", "remove it"),
    Mistake("surrogate", B, BOB + 'goals: ["\\u⇒d83d"]\n', "", "not YAML", ""),
    Mistake(
        "deep", B, BOB + "goals: [[[[[[[[[[[[[[[[[[[[[[[⇒[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
        "", "nested deeper than 24", "",
    ),
    Mistake(
        "comment", B, BOB + "goals:\n  - look in room⇒ #4 and 5\n",
        "entities.bob.goals[1]", "`#4 and 5` is read as a comment", "quotes",
    ),
    Mistake(
        "unknown key", B, BOB + "⇒hobbits: [x]\n",
        "entities.bob.hobbits", "an entity has no key `hobbits`", "did you mean `habits`?",
    ),
    Mistake("attribute outside", B, BOB + "⇒name: Bob\n", "entities.bob.name", "no key `name`", "under `attributes`"),
    Mistake("world key", W, HEAD + "⇒entites: []\n", "entites", "a world has no key `entites`", "did you mean `entities`?"),
    Mistake("not a map", B, "⇒just text\n", "entities", "should be a list of items", "- id: "),
    Mistake("item is text", B, "- ⇒bob\n", "entities[1]", "should be a map with keys, this is `bob`", "key: value"),
    Mistake("head is a list", W, "⇒- a\n", "", "should be a map with keys, this is a list", "key: value"),
    Mistake(
        "list for text", P, "- {id: bar, name: ⇒[the bar]}\n" + CELLAR,
        "places.bar.name", "should be a text, this is a list", "quotes",
    ),
    Mistake("map for list", B, BOB + "goals: ⇒{a: b}\n", "entities.bob.goals", "should be a list, this is a map", "- "),
    Mistake("text for map", B, BOB + "aliases: ⇒bill\n", "entities.bob.aliases", "should be a map with keys, this is `bill`", ""),
    Mistake("no id", L, "- ⇒{text: x}\n", "lore[1]", "`id` is missing", ""),
    Mistake("bad id", B, "id: ⇒the bob\nat: bar\nagent: true\n", "entities.bob", "`the bob` cannot be an id", "letters, digits"),
    Mistake("long id", B, "id: ⇒" + "b" * 65 + "\nat: bar\nagent: true\n", "entities.bob", "cannot be an id", "at most 64"),
    Mistake("id against key", W, HEAD + "lore: {a: {id: ⇒b, text: x}}\n", "lore.a.id", "the id `b` differs from its key `a`", ""),
    Mistake(
        "same id", B, "- {id: bob, at: bar}\n- {id: ⇒bob, at: bar}\n",
        "entities.bob", "`bob` stands twice in entities", "line 1, column 8",
    ),
    Mistake("id of a place", B, "- {id: ⇒bar, at: bar}\n", "entities.bar", "`bar` is also the id of a place", "line 1, column 7"),
    Mistake("no name", P, "- ⇒{id: bar}\n" + CELLAR, "places.bar.name", "`name` is missing", ""),
    Mistake("empty name", P, "- {id: bar, name: ⇒}\n" + CELLAR, "places.bar.name", "`name` is empty", ""),
    Mistake("blank name", P, "- {id: bar, name: ⇒' '}\n" + CELLAR, "places.bar.name", "`name` is empty", ""),
    Mistake("long name", P, "- {id: bar, name: ⇒" + "x" * 401 + "}\n" + CELLAR, "places.bar.name", "longer than 400", ""),
    Mistake("empty goal", B, BOB + "goals: [x, ⇒'']\n", "entities.bob.goals[2]", "an item is empty", ""),
    Mistake("raw token", B, BOB + "goals: ['x ⇒{{e:bob}}']\n", "entities.bob.goals[1]", "cannot hold `{{e:`", "write @"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_it_is_reported_once_and_where_it_stands(mistake: Mistake, only_problem: Callable[[str, str], tuple[str, str, str]]) -> None:
    mistake.check(only_problem)
