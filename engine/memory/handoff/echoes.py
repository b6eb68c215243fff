"""Whether what somebody said or thought is remembered already (invariant 11). Pure.

A prompt shows memories, its answer repeats them, and the answer becomes an event like any other. Promoted again it would be a second
copy of the memory it came from, and a third the next time. The same goes for who hears it for the second time.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.memory.handoff.retold import retold
from engine.memory.text import bare
from engine.memory.wording import (
    before_denial,
    beginnings,
    begins,
    content,
    held_by,
    in_order,
    names,
    negations,
    numbers,
    opposed,
    sentences,
)
from engine.mind.aliases import own_words, tokenize, vocabulary
from engine.records.base import EntityId
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.tokens import referred, token
from engine.records.world import World

_SHARE = 0.8
"""Share of the content words of a sentence that a memory has to hold for telling it. Some change when a story is told again."""
_ENOUGH = 4
"""Content words of a sentence that can be told in part. A shorter one has to be a sentence of the memory, whole."""
_BEGUN = 3
"""Content words of such a short sentence that is told when the owner only breaks a sentence of the memory off."""
_LEAST = 2
"""Content words that such a short sentence needs: `He left` is said of many a day. A shorter one is told by the same words
where others are told."""

_AGO = r"\b(?:(?:about|a|an|few|half|hour|couple|several|many|moments?|minutes?|hours?|days?|weeks?|months?|years?) )+ago\b"
_WHEN = re.compile(
    r"^(?:just now|earlier today(?:, in the \w+)?|(?:late )?last night|around midnight|yesterday \w+|the day before yesterday"
    rf"|the night before last)\b\s*[-,:;.\u2013\u2014\u2022*]*\s*|{_AGO}[\s,:;.\u2013\u2014\u2022*-]*",
    re.IGNORECASE,
)
"""Time words of a prompt: they say when, and are gone the next day."""
_LABEL = re.compile(r"^Quote:\s*|\(Only a thought\.?\)", re.IGNORECASE)
_ASIDE = content("listen friend friends well hark aye yes know mind hear heard true truth look believe swear promise")
"""What is said to begin or end a story and is no part of it."""
CHATTER = _ASIDE | content(
    "good evening morning night day lord lady sir master mistress please hello welcome wait ask asked god gods heaven heavens tale story "
    "word words memory"
)
"""What sentences around a story are made of."""
_TELLING = re.compile(
    r"\b(?:I|we)(?:['\u2019](?:ve|ll|d|m|re))?(?:\s+(?:have|had|do|did|can|could|will|would|must|may|still|also|just|once|already|well"
    r"|now|only|was|am|been|being))*\s+(?:remember|recall|hear|heard|know|knew|think|thought|believe|said|say|told|tell|swear|repeat)\w*"
    r"|\b(?:tell|told|say|said|ask|spoke|speak|believe|let|remind)\w*(?:\s+to)?\s+(?:me|us)\b"
    r"|\bmy (?:friends?|lord|lady|dear|word|memory|mind)\b",
    re.IGNORECASE,
)
_TOLD = (
    r"(?: \w+){0,2}? (?:told|tells|said|says|asked|asks|answered|thought|thinks|remembered|recalled|repeated|mentioned|spoke|warned|swore"
    r"|claimed|added|explained)\b"
)
"""What makes somebody the one who tells, after a reference to that one."""
_ENDINGS = frozenset({"ll", "ve", "re", "d"})
"""What is left of a word when a name in it becomes a token, and then stands among the stems: `Tom'll`."""
_ANYBODY = re.compile(
    r"(\{\{e:[^}]*\}\})|\b(I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]urs?|[Oo]urselves)\b|\b(?:you|your|he|she|it|they)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\bI\b|\b(?:[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Uu]s|[Oo]urs?|[Oo]urselves)\b")


class Sentence(NamedTuple):
    """One sentence as it is compared."""

    text: str
    """With reference tokens for those whom the owner knows a name for."""
    stems: frozenset[str]
    people: frozenset[EntityId]

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return "?" in self.text

    @property
    def of_oneself(self) -> bool:
        """Whether whoever speaks is part of what is told, and not only the one who tells it."""
        return _FIRST_PERSON.search(_TELLING.sub(" ", self.text)) is not None


class Tale(NamedTuple):
    """A ledger entry as it is compared."""

    entry: LedgerEntry
    sentences: tuple[Sentence, ...]
    stems: frozenset[str]
    words: frozenset[str]
    people: frozenset[EntityId]


class Voice(NamedTuple):
    """Whose words are compared, and to whose memory."""

    speaker: EntityId
    owner: EntityId

    def is_part_of(self, sentence: Sentence) -> bool:
        """Whether a sentence is about the speaker, and not only told by it."""
        name = token(self.speaker)
        return sentence.of_oneself or name in re.sub(re.escape(name) + _TOLD, " ", sentence.text)

    def subject(self, sentence: Sentence) -> str:
        """Whom a sentence speaks of first, apart from who tells it; empty when that is not said by name."""
        told = re.sub(r"\{\{e:[^}]*\}\}" + _TOLD + r"(?: \{\{e:[^}]*\}\})?", " ", _TELLING.sub(" ", sentence.text))
        found = _ANYBODY.search(told)
        if found is None:
            return ""
        return found[1] or (token(self.speaker) if found[2] else "")


def voice_of(sources: Sequence[BufferEntry], owner: EntityId) -> Voice | None:
    """Whose words these events are, if they are nothing but the words of one, as far as the owner understood them. Thoughts are the
    owner's alone."""
    speakers = {entry.intent.actor for entry in sources}
    if len(speakers) != 1 or any(entry.intent.type == "action" or entry.grasp != "full" for entry in sources):
        return None
    return Voice(speakers.pop(), owner)


def echoed_by(world: World, voice: Voice, sources: Sequence[BufferEntry], recited: Sequence[LedgerEntry]) -> LedgerEntry | None:
    """Which of some memories says what was said in these events, if nothing of that is news. See `echoed`."""
    if not recited:
        return None
    known = called(world, voice, sources, (who for entry in recited for who in (*entry.involved_entity_ids, *referred(entry.content))))
    return echoed(spoken(sources, known), [tale(entry, known) for entry in recited], voice)


def called(world: World, voice: Voice, sources: Sequence[BufferEntry], others: Iterable[EntityId]) -> dict[str, EntityId]:
    """The owner's names for whoever speaks or is spoken to, whom it knows by name, `others` and itself."""
    me = world.entities[voice.owner]
    people = {voice.speaker, *(who for entry in sources for who in entry.intent.targets), *me.aliases, *others}
    return own_words(world, voice.owner) | vocabulary(world, voice.owner, people & world.entities.keys())


def spoken(sources: Sequence[BufferEntry], known: Mapping[str, EntityId]) -> list[Sentence]:
    """What was said in these events, sentence by sentence, without the names of those spoken to."""
    return [sentence_of(line, entry.intent.targets, known) for entry in sources for line in retold(entry.intent.text)]


def sentence_of(line: str, targets: Iterable[EntityId], known: Mapping[str, EntityId]) -> Sentence:
    """One sentence of what was said to `targets`."""
    text = tokenize(_LABEL.sub("", _WHEN.sub("", line)), known)
    for target in targets:
        text = _without_address(text, token(target))
    sentence = _sentence(text)
    return sentence._replace(stems=sentence.stems - _ASIDE or sentence.stems)


def can_tell(text: str, sentence: Sentence) -> bool:
    """Whether a memory, as `plain` gives it, holds words enough to tell a sentence: a look at letters, then at stems, before the names
    in it are found. None that fails this passes the closer look."""
    stems = sentence.stems
    if sentence.asks and "?" not in text:
        return False
    if len(stems) < _LEAST:
        return bool(stems) and set(_words(bare(sentence.text))) <= set(_words(text))
    letters, left = text.casefold(), len(stems)
    for beginning in beginnings(stems):  # most texts fail here, and need not be taken apart
        if beginning not in letters:
            left -= 1
            if left + len(stems & _ENDINGS) < _SHARE * len(stems):
                return False
    return (len(stems & content(text)) + len(stems & _ENDINGS)) / len(stems) >= _SHARE


def tale(entry: LedgerEntry, known: Mapping[str, EntityId]) -> Tale:
    """A ledger entry, ready for comparison."""
    parts = [*sentences(entry.content), *(line for quote in entry.quotes for line in sentences(quote))]
    told = tuple(_sentence(tokenize(part, known)) for part in parts)
    return Tale(
        entry, told, frozenset().union(*(one.stems for one in told)),
        frozenset(word for one in told for word in _words(bare(one.text))),
        frozenset(entry.involved_entity_ids).union(*(one.people for one in told)),
    )


def tells(told: Tale, sentence: Sentence, voice: Voice) -> bool:
    """Whether a memory tells a sentence."""
    return _share(sentence, told, voice) > 0


def echoed(said: Sequence[Sentence], tales: Iterable[Tale], voice: Voice) -> LedgerEntry | None:
    """The memory that says what was said, the one that says most of it when it takes several; None when something is news.

    Each sentence has to be told by one memory: at least 0.8 of four or more content words, or all of a sentence of it, with numbers,
    denials, names and those referred to agreeing. What is said around a story, a greeting say, is passed over.
    """
    tales = sorted(tales, key=lambda one: one.entry.seq)
    weights: Counter[int] = Counter()
    rest: list[Sentence] = []
    for sentence in said:
        best = max(range(len(tales)), key=lambda at: (_share(sentence, tales[at], voice), -at), default=None)
        if best is not None and len(sentence.stems) >= _LEAST and _share(sentence, tales[best], voice) > 0:
            weights[best] += len(sentence.stems)
        else:
            rest.append(sentence)
    told = [tales[at] for at in weights]
    if not told or any(_is_news(sentence, told, voice) for sentence in rest):
        return None
    return tales[max(weights, key=lambda at: (weights[at], -at))].entry


def has_to_be_told(sentence: Sentence) -> bool:
    """Whether a sentence is news when no memory tells it, whatever else is told."""
    if not sentence.stems - CHATTER:
        return sentence.of_oneself and not sentence.stems
    return sentence.of_oneself or sentence.asks or negations(sentence.text) > 0 or len(sentence.stems) >= _ENOUGH


def beyond_telling(sentence: Sentence) -> bool:
    """Whether a sentence is news to any memory, and stays so when more names are found in it: a word of oneself without content."""
    return not sentence.stems and has_to_be_told(sentence)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _alike(a: Sentence, b: Sentence) -> bool:
    """Whether two sentences are the same words, in the same order."""
    return a.asks == b.asks and a.people == b.people and _words(a.text) == _words(b.text)


def _sentence(text: str) -> Sentence:
    return Sentence(text, content(text), frozenset(referred(text)))


def _without_address(text: str, name: str) -> str:
    """The text without somebody's name where it only calls that one: before a comma at the beginning, behind one at the end."""
    text = text.removeprefix(f"{name}, ")
    return re.sub(rf", {re.escape(name)}(?=[.!?\u2026]*$)", "", text)


def _share(sentence: Sentence, told: Tale, voice: Voice) -> float:
    """How much of the sentence the memory tells; 0 when it tells it not, or otherwise."""
    size = len(sentence.stems)
    if not sentence.people <= told.people.union(voice):
        return 0.0
    if size < _LEAST:
        return float(size > 0 and any(_alike(sentence, one) for one in told.sentences))
    own = voice.speaker == voice.owner
    if size < _ENOUGH:
        share, near = 1.0, [
            one for one in told.sentences
            if one.people.difference(voice) == sentence.people.difference(voice)
            and (sentence.stems in (one.stems, one.stems - _ASIDE) or (size >= _BEGUN and own and begins(one.text, sentence.text)))
        ]  # fmt: skip
    else:
        share = held_by(sentence.stems, told.stems)
        near = [one for one in told.sentences if 2 * len(one.stems & sentence.stems) >= min(size, len(one.stems)) > 0]
    if share < _SHARE or not near:
        return 0.0
    return share if _agree(sentence, near, told, voice) else 0.0


def _agree(sentence: Sentence, near: Sequence[Sentence], told: Tale, voice: Voice) -> bool:
    """Whether a sentence says no other number or name, denies nothing, asks nothing and confesses nothing that the memory does not."""
    if Counter(numbers(sentence.text)) - Counter(number for one in told.sentences for number in numbers(one.text)):
        return False
    if any(name.casefold() not in told.words for name in names(sentence.text)):
        return False
    if sentence.of_oneself and not any(voice.is_part_of(one) for one in near):
        return False
    if sentence.asks and not any(one.asks for one in near):
        return False
    return any(
        _deny_alike(sentence, one)
        and not opposed(sentence.text, one.text)
        and in_order(sentence.text, one.text)
        and (voice.subject(sentence) == voice.subject(one) or "" in (voice.subject(sentence), voice.subject(one)))
        for one in near
    )


def _deny_alike(sentence: Sentence, one: Sentence) -> bool:
    """Whether both deny the same or neither anything; or the sentence breaks off before the other begins to."""
    if not negations(one.text):
        return not negations(sentence.text)
    affirmed = content(before_denial(one.text))
    if not negations(sentence.text):
        return sentence.stems <= affirmed
    return affirmed & sentence.stems <= content(before_denial(sentence.text))


def _is_news(sentence: Sentence, told: Sequence[Tale], voice: Voice) -> bool:
    """Whether a sentence that no memory tells says something beside those that were told."""
    if any(tells(one, sentence, voice) for one in told):
        return False
    if has_to_be_told(sentence):
        return True
    if not sentence.stems - CHATTER:
        return False
    same = [one for held in told for one in held.sentences if sentence.stems <= one.stems]
    if same and not any(_deny_alike(sentence, one) and not opposed(sentence.text, one.text) for one in same):
        return True
    return not any(sentence.stems <= one.stems and sentence.people <= one.people.union(voice) for one in told)
