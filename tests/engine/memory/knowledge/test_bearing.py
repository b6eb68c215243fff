"""What is compared with something new is found by topic, words and vectors: nothing that rules have a word on is missed."""

from itertools import product

import numpy as np
import pytest

from engine.llm.hashing import Hash768
from engine.memory.embedding import embedded
from engine.memory.knowledge.bearing import Holder, Kept, Nearness, by_words
from engine.memory.knowledge.conflict import relation
from engine.records.tokens import bare
from engine.storage.knowledge_bearing import Outline
from tests.engine.memory.knowledge.statements import TEXTS, said

HOLDER: Holder = ("entity", "ann")


def outline(text: str, seq: int = 1, topic: str = "") -> Outline:
    return Outline(f"kno-{seq}", seq, "fact", said(text).subject_id, topic, bare(text))


@pytest.mark.parametrize("older", TEXTS)
def test_whatever_a_rule_tells_of_two_is_found_by_their_words(older: str) -> None:
    for newer in TEXTS:
        if relation(said(older), said(newer)) != "apart":
            assert by_words([outline(older)], said(newer)), newer


def test_a_topic_finds_without_a_word() -> None:
    row = outline("{{e:g}} is poor.", topic="purse")
    assert by_words([row], said("{{e:g}} inherited a mill.", topic="purse")) == [row.id]
    assert by_words([row], said("{{e:g}} inherited a mill.")) == []
    assert by_words([row], said("{{e:g}} inherited a mill.").model_copy(update={"supersedes": row.id})) == [row.id]


async def test_the_nearest_come_first_and_no_farther_than_asked_for() -> None:
    rows = [outline(text, seq) for seq, text in enumerate(TEXTS, 1)]
    vectors = await embedded(Hash768(), [row.plain for row in rows])
    near = Nearness(rows, np.stack(list(vectors)))
    for (at, row), least in product(list(enumerate(rows))[::5], (0.2, 0.6)):
        new = said(TEXTS[at])
        found = near.nearest(new, vectors[at], least)
        cosines = {other.id: float(vectors[at] @ vectors[place]) for place, other in enumerate(rows)}
        assert cosines[found[0]] == pytest.approx(1.0, abs=1e-5), row
        assert [cosines[key] for key in found] == sorted((cosines[key] for key in found), reverse=True)
        assert all(cosines[key] >= least - 1e-6 for key in found)


async def test_vectors_at_hand_are_those_of_the_present_words() -> None:
    kept = Kept()
    rows = [outline(f"The cask number {number} is full.", number) for number in range(1, 301)]
    more = {row.id: vector for row, vector in zip(rows, await embedded(Hash768(), [row.plain for row in rows]), strict=True)}
    assert len(kept.missing(HOLDER, rows)) == 300
    first = kept.renewed(HOLDER, rows, more)
    assert kept.missing(HOLDER, rows) == []
    assert kept.renewed(HOLDER, rows, {}) is first
    changed = [outline("The well is dry.", 7) if row.seq == 7 else row for row in rows[:-1]]
    assert [row.seq for row in kept.missing(HOLDER, changed)] == [7]
    [dry] = await embedded(Hash768(), ["The well is dry."])
    now = kept.renewed(HOLDER, changed, {"kno-7": dry})
    assert len(now.rows) == 299
    assert np.allclose(now.vectors(["kno-7"])["kno-7"], dry)
    assert np.allclose(now.vectors(["kno-8"])["kno-8"], more["kno-8"])
    assert [row.seq for row in kept.missing(HOLDER, rows)] == [7, 300], "an edit that was undone is read anew"
