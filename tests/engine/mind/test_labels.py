"""Labels: what somebody is called by looks alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.mind.labels import UNFAMILIAR, is_name, label_of, noun_phrase
from engine.records.world import Attribute, Entity

if TYPE_CHECKING:
    from tests.engine.mind.conftest import Maker

PHRASES = [
    ("A tall bald man in an apron, with a scar", "the tall bald man"),
    ("a tall bald man in an apron", "the tall bald man"),
    ("Thin woman in a soaked coat", "the thin woman"),
    ("A tall, bald man in an apron", "the tall bald man"),
    ("A lean, sun-browned woman, hair in a knot", "the lean sun-browned woman"),
    ("broad-shouldered, bearded sailor", "the broad-shouldered bearded sailor"),
    ("a broad woman with flour on her sleeves", "the broad woman"),
    ("She is a broad woman with flour on her sleeves", "the broad woman"),
    ("He's an old man who limps", "the old man"),
    ("It\u2019s a brass lantern.", "the brass lantern"),
    ("A man wearing a cloak", "the man"),
    ("A limping old man leaning on a stick", "the limping old man"),
    ("A woman dressed in black", "the woman"),
    ("a box bound with iron", "the box"),
    ("A ring of iron keys", "the ring of iron keys"),
    ("A slip of a girl, no older than ten", "the slip of a girl"),
    ("A man of about forty", "the man"),
    ("A boy barely ten", "the boy"),
    ("A woman, tall and thin", "the woman"),
    ("The innkeeper, a broad woman", "the innkeeper"),
    ("A hooded figure", "the hooded figure"),
    ("Hooded figure.", "the hooded figure"),
    ("One-eyed man", "the one-eyed man"),
    ("A man and his dog", "the man"),
    ("A big and bearded man", "the big and bearded man"),
    ("A Norse warrior", "the Norse warrior"),
    ("An old salt", "the old salt"),
    ("A very old man - half asleep", "the very old man"),
    ("Two guards in mail", "the two guards"),
    ("A bed of straw", "the bed of straw"),
    ("a candle burns low", "the candle"),
    ("A small\n   barefoot girl\n", "the small barefoot girl"),
    ("a three-legged dog", "the three-legged dog"),
    ("An iron key, cold to the touch", "the iron key"),
    ("A cloak of {{e:rook}} in grey", "the cloak of someone"),
    ("A man (tall)", "the man"),
]


@pytest.mark.parametrize(("appearance", "phrase"), PHRASES, ids=[appearance for appearance, _ in PHRASES])
def test_noun_phrase(appearance: str, phrase: str) -> None:
    assert noun_phrase(appearance) == phrase


@pytest.mark.parametrize(
    "appearance",
    [
        "",
        "  ",
        "?!",
        "Tall and gaunt",
        "Hooded",
        "Young, maybe nineteen, with red hair",
        "His face is scarred",
        "it hangs over the bar",
        "in rags",
        "and",
        "of course",
        "He wears a grey cloak",
        "a",
        "the",
    ],
)
def test_no_noun_phrase_where_none_begins(appearance: str) -> None:
    assert noun_phrase(appearance) is None


@given(st.text(max_size=120))
def test_any_appearance_gives_one_short_line_or_nothing(text: str) -> None:
    phrase = noun_phrase(text)
    assert phrase is None or (phrase.startswith("the ") and "\n" not in phrase and "{{" not in phrase and len(phrase.split()) <= 14)


@pytest.mark.parametrize(
    ("label", "shown"),
    [("the wet stranger", "the wet stranger"), ("The wet stranger", "the wet stranger"), ("wet stranger", "the wet stranger"),
     ("Wet stranger", "the wet stranger"), ("a hooded figure.", "a hooded figure"), ("Innkeeper", "the innkeeper"), ("Old Tom", "Old Tom"),
     ("my brother", "my brother"), ("Harbour Master", "Harbour Master"), ("somebody in a hood", "somebody in a hood"),
     ("  the   wet\nstranger ", "the wet stranger"), ("the friend of {{e:bob}}", "the friend of someone")],
)  # fmt: skip
def test_a_label_reads_well_inside_a_sentence(make: Maker, label: str, shown: str) -> None:
    assert label_of(make.entity("x", "Secret", label=label, looks="a tall man")) == shown


def _named(value: str, *, public: bool) -> Entity:
    return Entity(id="x", attributes={"name": Attribute(name="name", value=value, public=public, known_to=("x",))})


def test_a_label_is_taken_from_what_is_public_only(make: Maker) -> None:
    assert label_of(make.entity("x", "Gareth", looks="A tall man")) == "the tall man"
    assert label_of(make.entity("x", "Gareth")) == UNFAMILIAR
    assert label_of(_named("brass lantern", public=True)) == "the brass lantern"
    assert label_of(_named("Excalibur", public=True)) == "Excalibur"
    assert label_of(_named("Excalibur", public=False)) == UNFAMILIAR
    hidden = Attribute(name="appearance", value="A tall man", known_to=("x", "viewer"))
    assert label_of(Entity(id="x", attributes={"appearance": hidden})) == UNFAMILIAR


@pytest.mark.parametrize("alias", ["Gareth", "Bryn Harrow", "O'Brien", "\u00c9lan", "Old Tom", "Ish"])
def test_names(alias: str) -> None:
    assert is_name(alias)


@pytest.mark.parametrize(
    "alias",
    [
        "",
        "the hooded figure",
        "The hooded figure",
        "the Rook",
        "a guard",
        "An old man",
        "some sailor",
        "another guard",
        "one of the twins",
        "One of the Twins",
        "my brother",
        "Your friend",
        "that man",
        "gareth",
        "1st mate",
    ],
)
def test_labels_are_no_names(alias: str) -> None:
    assert not is_name(alias)
