"""What is read of a ledger before a handoff's chunks are judged: no more than it takes, and nothing less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.memory.handoff.echoes import Voice, beyond_telling, can_tell, echoed, has_to_be_told, sentence_of, tale, tells
from engine.memory.reembedding import embed_missing
from engine.memory.text import plain
from engine.memory.wording import beginnings, content
from engine.records.memory import LedgerEntry, NewLedgerEntry
from tests.engine.memory.test_merging import ECHOES, HOUR, TOLD, hand_over

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

KNOWN = {"Tom Reed": "en_sailor", "Tom": "en_sailor", "the quiet monk": "en_monk", "Bryn Harrow": "en_bryn"}
OWN, OTHER = Voice("en_bryn", "en_bryn"), Voice("en_stranger", "en_bryn")

WORDS = (
    "Tom Reed", "Tom'll", "the quiet monk", "Bryn Harrow's", "{{e:en_sailor}}", "{{e:en_monk}}", "I", "you", "my friend", "hid", "hides",
    "sold", "never", "three", "12", "the", "silver", "lantern", "lanterns", "quay", "step", "mill", "under", "over", "listen",
    "good evening", "Old Hagen", "and told me", "?", ".", "!", ",",
)  # fmt: skip
ACCOUNTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14)


def entry(inn: Inn, content: str, quotes: Sequence[str] = ()) -> LedgerEntry:
    new = inn.memory(content, 3, who=("en_sailor",), quotes=quotes)
    return LedgerEntry(id="led-000001", seq=1, **{name: getattr(new, name) for name in NewLedgerEntry.model_fields})


@settings(max_examples=400, deadline=None)
@given(ACCOUNTS, st.integers(0, 13), ACCOUNTS, st.booleans(), st.sampled_from([OWN, OTHER]))
@example(["Tom'll", "hides", "the", "silver", "lantern"], 13, [TOLD], False, OWN)
def test_what_tells_a_sentence_is_never_left_out_by_its_stems(
    inn: Inn, account: list[str], gone: int, more: list[str], quoted: bool, voice: Voice
) -> None:
    content, quotes = (" ".join(more), [" ".join(account)]) if quoted else (" ".join(account), [" ".join(more)])
    line = " ".join(word for at, word in enumerate(account) if at != gone) or "Listen."
    sentence = sentence_of(line, ("en_monk",), KNOWN)
    if tells(tale(entry(inn, content, quotes), KNOWN), sentence, voice):
        assert can_tell(plain(content, quotes), sentence)
        assert not beyond_telling(sentence_of(line, ("en_monk",), {}))


@given(ACCOUNTS, st.sampled_from([OWN, OTHER]))
def test_a_sentence_that_has_to_be_told_makes_news_of_all_around_it(inn: Inn, words: list[str], voice: Voice) -> None:
    sentence, held = sentence_of(" ".join(words), (), KNOWN), tale(entry(inn, TOLD), KNOWN)
    told = sentence_of(TOLD, (), KNOWN)
    assert echoed([told], [held], voice) is not None
    if has_to_be_told(sentence) and not tells(held, sentence, voice):
        assert echoed([told, sentence], [held], voice) is None


def test_the_look_at_stems_lets_an_echo_pass(inn: Inn) -> None:
    for line in (*(f"Tom Reed hid the {kind} lantern under the third step of the quay." for kind in ("silver", "golden")), TOLD):
        assert can_tell(plain(TOLD, ()), sentence_of(line, (), KNOWN))
        assert tells(tale(entry(inn, TOLD), KNOWN), sentence_of(line, (), KNOWN), OWN)
    assert not can_tell(plain(TOLD, ()), sentence_of("Tom Reed sold the grey mule of the miller at the fair.", (), KNOWN))
    assert not can_tell(plain(TOLD, ()), sentence_of(ECHOES[0].replace(".", "?"), (), KNOWN))


FORMS = (
    "hid", "hidden", "hiding", "hides", "carry", "carries", "carried", "carrying", "quarrel", "quarrelled", "relation", "relational",
    "relate", "possible", "possibility", "possibly", "hope", "hopeful", "hopefully", "hopefulness", "city", "cities", "bury", "buried",
    "nation", "national", "realize", "realization", "active", "activity", "creator", "create", "sand", "sandy", "ring", "rang", "nobly",
    "noble", "horses", "horse's", "agreed", "agreement", "Stra\u00dfe", "\u00c9lan", "o'brien", "mills", "sensible", "sensibility",
    "dying", "flies", "hopped",
)  # fmt: skip


@pytest.mark.parametrize("word", FORMS)
def test_the_beginning_of_a_stem_stands_in_all_forms_of_it(word: str) -> None:
    assert all(beginning in word.casefold() for beginning in beginnings(content(word)))
    for other in FORMS:
        if content(other) == content(word):
            assert all(beginning in other.casefold() for beginning in beginnings(content(word)))


class Counted:
    """How often the word index is asked."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.searches = 0
        self._asked = desk.store.ledger.by_words
        monkeypatch.setattr(desk.store.ledger, "by_words", self._ask)

    def _ask(self, *values: Any) -> Any:
        self.searches += 1
        return self._asked(*values)


NEWS = (
    "The smith pays gold for copper bells. Old barges rot behind the northern weir. Nine herons nest beside the ruined chapel. "
    "The ferry brings salted mutton before autumn storms. Wolves cross the frozen marsh near dawn."
)


@pytest.mark.parametrize(("quotes", "searches"), [(["Old barges rot behind the northern weir."], 1), ([], 2)])
async def test_a_speech_of_news_is_known_for_news_by_one_of_its_sentences(
    desk: Desk, wire: Any, monkeypatch: pytest.MonkeyPatch, quotes: list[str], searches: int
) -> None:
    await desk.remember([desk.inn.memory(TOLD, 40, who=("en_sailor",)), desk.inn.memory("{{e:en_smith}} mended old bells.", 41)])
    counted = Counted(desk, monkeypatch)
    await hand_over(desk, [desk.inn.said(NEWS, HOUR, by="en_stranger")], wire.chunk(["M1"], "P2 told P1 the news.", quotes=quotes))
    assert counted.searches == searches
    assert len(await desk.ledger()) == 3


@pytest.mark.parametrize("crowd", [0, 30])
async def test_an_echo_is_found_among_many_who_tell_nearly_the_same(desk: Desk, wire: Any, crowd: int) -> None:
    first, then = "Tom Reed hid the silver lantern under the third step of the quay.", "Tom Reed swore you to silence at the mill."
    [memory] = await desk.remember([desk.inn.memory(f"{TOLD} {{{{e:en_sailor}}}} swore {{{{e:en_bryn}}}} to silence at the mill.", 60)])
    await desk.remember(
        [desk.inn.memory(f"{{{{e:en_smith}}}} hid {n + 4} silver lanterns under the steps of the quay.", 50 - n) for n in range(crowd)]
    )
    await embed_missing(desk.store, desk.embedder)
    event = desk.inn.said(f"{first} {then}", HOUR, by="en_bryn", to=("en_stranger",))
    run = await hand_over(desk, [event], wire.chunk(["M1"], "P1 spoke of the lantern.", quotes=[first]))
    assert (run.added, len(await desk.ledger())) == (0, crowd + 1)
    assert len(await desk.sources(memory.id)) == 1
