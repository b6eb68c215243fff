"""What a viewer calls others, whom it means by a phrase, and names turned into tokens."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mind.aliases import UNFAMILIAR, find, names_for, narrator_name, resolve_alias, tokenize, true_names, vocabulary
from engine.mind.render import render
from engine.records.tokens import token
from engine.records.world import World

if TYPE_CHECKING:
    from tests.engine.mind.conftest import Maker


@pytest.fixture(scope="module")
def inn(make: Maker) -> World:
    return make.world(
        make.entity("me", "Bryn Harrow", label="the innkeeper", aliases={"gar": "Gareth Stone", "old": "the murderer", "shy": "  "}),
        make.entity("gar", "Aldred", label="the hooded figure", order=1),
        make.entity("old", "Hob", label="the old man", order=2),
        make.entity("shy", "Wren", looks="Thin woman in a soaked coat", order=3),
        make.entity("fog", "Nobody", order=4),
        make.entity("kin", "Perrin Harrow", label="the boy", known_to=("me",), order=5),
        make.entity("g1", "G1", label="the guard", looks="A tall guard with a pike", order=6),
        make.entity("g2", "G2", label="the guard", looks="A short guard", order=7),
        make.entity("g3", "G3", label="the guard", looks="A guard", order=8),
        make.entity("lamp", label="the brass lantern", agent=False, order=9),
    )


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("me", "you"),
        ("gar", "Gareth Stone"),
        ("old", "the murderer"),
        ("shy", "the thin woman"),
        ("fog", UNFAMILIAR),
        ("kin", "Perrin Harrow"),
        ("lamp", "the brass lantern"),
        ("no such id", UNFAMILIAR),
    ],
)
def test_resolve_alias(inn: World, target: str, name: str) -> None:
    assert resolve_alias(inn, "me", target) == name


def test_another_viewer_has_its_own_names(inn: World) -> None:
    assert resolve_alias(inn, "gar", "me") == "the innkeeper"
    assert resolve_alias(inn, "gar", "kin") == "the boy"
    assert resolve_alias(inn, "no such id", "gar") == "the hooded figure"


def test_an_alias_never_passes_for_the_viewer_itself(make: Maker) -> None:
    world = make.world(make.entity("me", "Bryn", aliases={"x": "You"}), make.entity("x", "X", label="the tall man"))
    assert names_for(world, "me", ["x", "me"]) == {"x": "the tall man", "me": "you"}


def test_those_who_look_alike_are_told_apart(make: Maker, inn: World) -> None:
    assert names_for(inn, "me", ["g1"]) == {"g1": "the guard"}
    assert names_for(inn, "me", ["g1", "g2"]) == {"g1": "the tall guard", "g2": "the short guard"}
    assert names_for(inn, "me", ["g3", "g1"]) == {"g1": "the tall guard", "g3": "the other guard"}
    twins = make.world(
        make.entity("me", "M", aliases={"t1": "Tom", "t2": "Tom", "t3": "Tom"}),
        *(make.entity(f"t{n}", f"Tom {n}", order=n) for n in (1, 2, 3)),
        *(make.entity(f"u{n}", f"U{n}", order=n) for n in (1, 2, 3)),
        *(make.entity(f"w{n:02}", f"W{n}", label="the watchman", order=n) for n in range(1, 15)),
    )
    assert list(names_for(twins, "me", ["t1", "t2", "t3"]).values()) == ["Tom", "the other Tom", "the third Tom"]
    assert list(names_for(twins, "me", ["u1", "u2", "u3"]).values()) == [
        "an unfamiliar figure", "another unfamiliar figure", "a third unfamiliar figure",
    ]  # fmt: skip
    watch = names_for(twins, "me", [f"w{n:02}" for n in range(1, 15)])
    assert (watch["w01"], watch["w12"], watch["w13"]) == ("the first watchman", "the twelfth watchman", "the 13th watchman")


def test_a_number_that_is_taken_is_passed_over(make: Maker) -> None:
    world = make.world(
        make.entity("me", "M"),
        make.entity("a", "A", label="the guard", order=1),
        make.entity("b", "B", label="the guard", order=2),
        make.entity("c", "C", label="The first guard", order=3),
    )
    assert names_for(world, "me", ["a", "b", "c"]) == {"a": "the second guard", "b": "the third guard", "c": "the first guard"}


LABELS = st.sampled_from(
    ["the guard", "the Guard", "a guard", "the first guard", "Tom", "the other Tom", "another guard", "", "guard", "you"]
)
LOOKS = st.sampled_from(["", "A tall guard", "A guard", "A short guard in mail"])


@given(st.lists(st.tuples(LABELS, LABELS, LOOKS), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_names_are_distinct_and_independent_of_order(make: Maker, people: list[tuple[str, str, str]], shuffle: random.Random) -> None:
    aliases = {f"e{n}": alias for n, (alias, _, _) in enumerate(people) if alias}
    others = [make.entity(f"e{n}", f"N{n}", label=label, looks=looks, order=n % 3) for n, (_, label, looks) in enumerate(people)]
    world = make.world(make.entity("me", "M", aliases=aliases), *others)
    ids = ["me", *(entity.id for entity in others)]
    names = names_for(world, "me", ids)
    assert set(names) == set(ids)
    assert len({name.casefold() for name in names.values()}) == len(ids)
    assert names["me"] == "you"
    shuffled = ids * 2
    shuffle.shuffle(shuffled)
    assert names_for(world, "me", shuffled) == names
    assert all(find(world, "me", name, ids).ids == (id_,) for id_, name in names.items()), "each name means just the one it stands for"


def test_the_narrator_uses_true_names(make: Maker, inn: World) -> None:
    assert narrator_name(inn.entities["gar"]) == "Aldred"
    assert narrator_name(inn.entities["lamp"]) == "the brass lantern"
    assert narrator_name(make.entity("old_tom-2")) == "old tom 2"
    assert true_names(inn, ["gar", "me", "no such id"]) == {"me": "Bryn Harrow", "gar": "Aldred"}


ALL = ["me", "gar", "old", "shy", "fog", "kin", "g1", "g2", "lamp"]


@pytest.mark.parametrize(
    ("phrase", "ids"),
    [
        ("Gareth Stone", ["gar"]), ("gareth", ["gar"]), ("Stone", ["gar"]), ("Master Stone", ["gar"]), ("the hooded figure", ["gar"]),
        ("hooded figure", ["gar"]), ("a hooded figure", ["gar"]), ("the hooded figure's", ["gar"]), ("Gareth\u2019s", ["gar"]),
        ("the murderer", ["old"]), ("the old man", ["old"]), ("The Thin Woman!", ["shy"]), ("the woman", ["shy"]), ("woman", ["shy"]),
        ("the woman in the soaked coat", ["shy"]), ("Perrin", ["kin"]), ("the tall guard", ["g1"]), ("the short guard", ["g2"]),
        ("the lantern", ["lamp"]), ("lantern", ["lamp"]), ("you", ["me"]), ("myself", ["me"]), ("an unfamiliar figure", ["fog"]),
        ("Aldred", []), ("Wren", []), ("the hooded", []), ("the dragon", []), ("", []), ("  ?!", []), ("the", []), ("tall", []),
    ],
)  # fmt: skip
def test_a_phrase_is_understood_by_what_the_viewer_knows(inn: World, phrase: str, ids: list[str]) -> None:
    found = find(inn, "me", phrase, ALL)
    assert list(found.ids) == ids
    assert not found.ambiguous


def test_a_phrase_that_fits_several_is_ambiguous_unless_one_was_dealt_with_last(inn: World) -> None:
    found = find(inn, "me", "the guard", ["g1", "g2", "gar"])
    assert (found.ids, found.ambiguous) == (("g1", "g2"), True)
    settled = find(inn, "me", "the guard", ["g1", "g2", "gar"], recent=["gar", "g2", "g1"])
    assert (settled.ids, settled.ambiguous) == (("g2",), False)
    assert find(inn, "me", "Harrow", ["me", "kin"]).ids == ("kin",)
    assert find(inn, "me", "the guard", ["gar"]).ids == ()


def test_pronouns_mean_those_dealt_with_last(inn: World) -> None:
    assert find(inn, "me", "her", ALL, recent=["lamp", "shy", "gar"]).ids == ("shy",)
    assert find(inn, "me", "it", ALL, recent=["shy", "lamp"]).ids == ("lamp",)
    assert find(inn, "me", "her", ALL).ids == ()
    assert find(inn, "me", "him", ["g1"], recent=["gar", "g1"]).ids == ("g1",), "only those within reach"


@given(st.text(max_size=40))
def test_any_phrase_is_survived(inn: World, phrase: str) -> None:
    found = find(inn, "me", phrase, ALL)
    assert set(found.ids) <= set(ALL)
    assert found.ambiguous == (len(found.ids) > 1)


NAMES = {"the hooded figure": "gar", "the figure": "fig", "Ish": "ish", "Bryn Harrow": "bryn", "Bryn": "bryn", "the Rook": "rook"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the hooded figure's cloak", "{{e:gar}}'s cloak"),
        ("The Hooded  Figure left", "{{e:gar}} left"),
        ("the hooded figure and the figure", "{{e:gar}} and {{e:fig}}"),
        ("a hooded figure", "a hooded figure"),
        ("Bryn Harrow and Bryn", "{{e:bryn}} and {{e:bryn}}"),
        ("Bryn Harrows", "{{e:bryn}} Harrows"),
        ("bryn", "bryn"),
        ("Ishmael gave Ish fish", "Ishmael gave {{e:ish}} fish"),
        ("{{e:Ish}} saw Ish", "{{e:Ish}} saw {{e:ish}}"),
        ("{{e:the Rook}} the Rook", "{{e:the Rook}} {{e:rook}}"),
        ("\u201cIsh\u201d, Ish\u2014Ish; Ish\u2019s", "\u201c{{e:ish}}\u201d, {{e:ish}}\u2014{{e:ish}}; {{e:ish}}\u2019s"),
        ("the other figure", "the other figure"),
        ("", ""),
    ],
)
def test_tokenize(text: str, expected: str) -> None:
    assert tokenize(text, NAMES) == expected


def test_tokenize_substitutes_once() -> None:
    assert tokenize("Ish", {"Ish": "Bryn", "Bryn": "x", "e": "y"}) == "{{e:Bryn}}"
    assert tokenize("Ish", {}) == "Ish"
    assert tokenize("Ish", {" ": "x"}) == "Ish"
    assert tokenize("saw A (b) [c", {"A (b) [c": "x", "the (b": "y"}) == "saw {{e:x}}"


@given(st.text(max_size=60), st.dictionaries(st.text(min_size=1, max_size=12), st.just("x"), max_size=5))
def test_any_text_and_names_are_survived(text: str, names: dict[str, str]) -> None:
    stored = tokenize(text, names)
    assert tokenize(text, {}) == text
    if not any(name.strip() for name in names):
        assert stored == text


def test_vocabulary_adds_parts_of_names_that_only_one_has(make: Maker) -> None:
    aliases = {"a": "Bryn Harrow", "b": "Perrin Harrow", "c": "the tall man", "d": "Captain Salt"}
    world = make.world(make.entity("me", "Me", aliases=aliases), *(make.entity(i, i.upper()) for i in aliases))
    words = vocabulary(world, "me", ["me", *aliases])
    assert words == {
        "Bryn Harrow": "a", "Perrin Harrow": "b", "the tall man": "c", "Captain Salt": "d", "Bryn": "a", "Perrin": "b", "Salt": "d",
    }  # fmt: skip


def test_vocabulary_still_has_the_label_of_who_is_known_by_name(make: Maker) -> None:
    world = make.world(
        make.entity("me", "Me", aliases={"a": "Gareth", "g": "Tom"}),
        make.entity("a", "A", label="the hooded figure"),
        make.entity("g", "G", label="the guard"),
        make.entity("h", "H", label="the guard"),
    )
    assert vocabulary(world, "me", ["a", "g", "h"]) == {"Gareth": "a", "Tom": "g", "the guard": "h", "the hooded figure": "a"}
    assert tokenize("The hooded figure, Gareth", vocabulary(world, "me", ["a"])) == "{{e:a}}, {{e:a}}"


PIECES = st.sampled_from(
    [
        ("the hooded figure", "gar"),
        ("Ish", "ish"),
        ("the wet stranger", "wet"),
        ("Bryn Harrow", "bryn"),
        ("the guard", "g"),
        ("Old Tom", "tom"),
    ]
)
FILLER = st.sampled_from([" saw ", "'s cloak hid ", ", then ", " and ", "\u2019s dog bit ", " whispered to ", " [and] ", " * "])


@given(st.lists(st.tuples(PIECES, FILLER), min_size=1, max_size=8))
def test_what_is_tokenized_and_rendered_again_reads_the_same(parts: list[tuple[tuple[str, str], str]]) -> None:
    names = {"the hooded figure": "gar", "Ish": "ish", "the wet stranger": "wet", "Bryn Harrow": "bryn", "the guard": "g", "Old Tom": "tom"}
    text = "Then " + "".join(name + filler for (name, _), filler in parts) + "nobody."
    stored = tokenize(text, names)
    assert stored == "Then " + "".join(token(id_) + filler for (_, id_), filler in parts) + "nobody."
    assert render(stored, {id_: name for name, id_ in names.items()}) == " ".join(text.split())
    assert tokenize(stored, names) == stored
