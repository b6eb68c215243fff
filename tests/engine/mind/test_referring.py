"""How far a name reaches in a text: to one who knows a part of it, all of it means the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.mind.aliases import own_words, tokenize, vocabulary
from engine.mind.referring import Vocabulary
from engine.records.tokens import referred, token
from engine.records.world import World
from engine.turns.decoder import known_names

if TYPE_CHECKING:
    from tests.engine.mind.conftest import Maker

INES, TAM, BOAT = token("ines"), token("tam"), token("boat")
WHOLE = {"ines": "Ines Calder", "orla": "Orla Maria Venn", "tam": "Tam Calder", "odo": "Odo of the Mere", "boat": "the grey boat"}
NAMES = {"Ines": "ines", "Venn": "orla", "the lean clerk": "tam", "Odo": "odo", "the boat": "boat"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("who had carried Ines Calder ashore", f"who had carried {INES} ashore"),
        ("Ines  Calder's boat", f"{INES}'s boat"),
        ("Ines CALDER\u2019s boat", f"{INES}\u2019s boat"),
        ("Ines, Calder", f"{INES}, Calder"),
        ("He saw Ines. Calder left", f"He saw {INES}. Calder left"),
        ("Ines calder", f"{INES} calder"),
        ("Ines Calders", f"{INES} Calders"),
        ("Ines Hollis", f"{INES} Hollis"),
        ("Calder", "Calder"),
        ("Captain Orla Venn left", f"{token('orla')} left"),
        ("Orla Maria Venn, Orla M. Venn", f"{token('orla')}, Orla M. {token('orla')}"),
        ("the Captain Venn and Mistress Venn", f"{token('orla')} and {token('orla')}"),
        ("Dr. Venn", token("orla")),
        ("my master Venn", f"my master {token('orla')}"),
        ("the lean clerk Tam Calder", TAM),
        ("the Lean Clerk Calder", TAM),
        (f"{INES} Calder met {TAM} Ines", f"{INES} met {TAM} {INES}"),
        (f"Ines {INES} and Captain {INES}", f"{INES} and {INES}"),
        ("{{e:zed}} Calder", "{{e:zed}} Calder"),
        ("Odo of the Mere", token("odo")),
        ("Odo of the Hill", f"{token('odo')} of the Hill"),
        ("the boat Grey", f"{BOAT} Grey"),
        (f"Captain {BOAT}", f"Captain {BOAT}"),
    ],
)
def test_the_words_of_a_whole_name_go_with_the_part_that_is_known(text: str, expected: str) -> None:
    assert tokenize(text, Vocabulary(NAMES, WHOLE)) == expected


def test_a_whole_name_means_its_bearer_though_a_part_is_anothers_name() -> None:
    names = Vocabulary({"Ines": "ines", "Calder": "tam"}, WHOLE)
    assert tokenize("Ines Calder saw Tam Calder. Calder saw Ines.", names) == f"{INES} saw {TAM}. {TAM} saw {INES}."


def test_whole_names_mean_nobody_by_themselves() -> None:
    assert tokenize("Ines Calder met Tam Calder.", Vocabulary({}, WHOLE)) == "Ines Calder met Tam Calder."
    assert tokenize("Ines Calder met Tam Calder.", Vocabulary({"the lean clerk": "tam"}, WHOLE)) == "Ines Calder met Tam Calder."


def test_vocabularies_are_joined_with_what_is_known_of_their_names() -> None:
    one, other = Vocabulary({"Ines": "ines"}, {"ines": "Ines Calder"}), Vocabulary({"Ines": "x", "Tam": "tam"}, {"tam": "Tam Calder"})
    both = one | other
    assert (dict(both), both.whole) == ({"Ines": "x", "Tam": "tam"}, {"ines": "Ines Calder", "tam": "Tam Calder"})
    assert dict({"Ines": "y", "Odo": "odo"} | one) == {"Ines": "ines", "Odo": "odo"}
    assert ({"Odo": "odo"} | one).whole == one.whole
    assert tokenize("Tam Calder, Odo", both | {"Odo": "odo"}) == f"{TAM}, {token('odo')}"


def test_the_vocabulary_of_a_viewer_reaches_as_far_as_names_do(make: Maker) -> None:
    world = make.world(
        make.entity("me", "Aldous Fenn", aliases={"ines": "Ines"}),
        make.entity("ines", "Ines Calder", label="the widow"), make.entity("tam", "Tam Birrell", label="the boy"),
    )  # fmt: skip
    names = own_words(world, "me") | vocabulary(world, "me", ["ines", "tam"])
    assert set(names) == {"Aldous Fenn", "Aldous", "Fenn", "Ines", "the widow", "the boy"}
    text = "Aldous Fenn told the boy who had carried Ines Calder. Aldous saw Tam Birrell and the boy Tam."
    assert tokenize(text, names) == (
        f"{token('me')} told {TAM} who had carried {INES}. {token('me')} saw Tam Birrell and {TAM}."
    )


PARTS = st.lists(
    st.sampled_from(["Ines", "Calder", "Orla", "Venn", "Maria", "Gray-Stone", "O'Dell", "\u00c9va", "Wren", "Jo"]),
    min_size=2, max_size=3, unique=True,
)  # fmt: skip
AROUND = st.sampled_from(["who had carried {} ashore", "{}", "{}'s coat lay there", "said that {}, of all people, left", "{} and the boy"])


def inn(make: Maker, parts: list[str], alias: str) -> World:
    other = make.entity("other", " ".join(parts), label="the tall woman")
    return make.world(make.entity("me", "Hob", aliases={"other": alias}), other, make.entity("boy", "Pip", label="the boy"))


@settings(deadline=None)
@given(PARTS, st.data(), AROUND, st.sampled_from(["", "Captain ", "Mistress ", "the Widow "]))
def test_no_part_of_a_name_is_left_once_a_part_of_it_is_known(
    make: Maker, parts: list[str], data: st.DataObject, around: str, title: str
) -> None:
    start = data.draw(st.integers(0, len(parts) - 1))
    alias = " ".join(parts[start : data.draw(st.integers(start + 1, len(parts)))])
    world = inn(make, parts, alias)
    told = tokenize(around.format(title + " ".join(parts)), vocabulary(world, "me", ["other", "boy"]))
    assert told == around.format(token("other")).replace("the boy", token("boy"))
    handled = tokenize(around.format(title + " ".join(parts).replace(alias, token("other"))), vocabulary(world, "me", ["other", "boy"]))
    assert handled == told


@settings(deadline=None)
@given(PARTS, st.sampled_from(["Zoe", "the tall woman", ""]), AROUND)
def test_a_name_of_which_nothing_is_known_stays_a_word(make: Maker, parts: list[str], alias: str, around: str) -> None:
    text = around.format(" ".join(parts))
    told = tokenize(text, vocabulary(inn(make, parts, alias), "me", ["other", "boy"]))
    assert referred(told) in ((), ("boy",))
    assert told == text.replace("the boy", token("boy"))


@settings(deadline=None)
@given(st.text(max_size=60), st.dictionaries(st.text(min_size=1, max_size=9), st.sampled_from(["x", "y"]), max_size=4),
       st.dictionaries(st.sampled_from(["x", "y"]), st.text(max_size=12)))  # fmt: skip
def test_any_names_are_survived(text: str, names: dict[str, str], whole: dict[str, str]) -> None:
    vocabulary_ = Vocabulary(names, whole)
    assume("{{" not in text)
    stored = tokenize(text, vocabulary_)
    assert set(referred(stored)) <= set(names.values())
    assert tokenize(stored, vocabulary_) == tokenize(tokenize(stored, vocabulary_), vocabulary_)


def test_what_a_player_writes_is_understood_so_too(make: Maker) -> None:
    world = make.world(make.entity("me", "Aldous Fenn", aliases={"ines": "Ines"}), make.entity("ines", "Ines Calder", label="the widow"))
    assert tokenize("gave the lamp to Ines Calder, Aldous Fenn's friend", known_names(world, "me")) == (
        f"gave the lamp to {INES}, {token('me')}'s friend"
    )
