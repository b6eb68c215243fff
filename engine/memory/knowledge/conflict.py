"""How two statements stand to each other, as far as words alone tell it for sure (DESIGN 9 and 10). Pure.

A rule comes before any model: what it is sure of costs nothing and is the same every time. It looks at what a cosine misses, numbers,
negation, names and who does what to whom, and at a few ways in which what is told later ends what was so before: `no longer`, what was
owned and is sold, lost or given away. Everything else that is near is `unclear`: a model decides, or both stay.
"""

import re
from functools import lru_cache
from typing import Literal, Protocol

from engine.llm.stems import stem
from engine.memory.knowledge.contraries import (
    ARTICLES,
    ATTITUDES,
    BREAKS,
    ENDED,
    HELD,
    HOURS,
    INSTEAD,
    IS,
    NAMED,
    NOT_THINGS,
    OWNS,
    PARTED,
    PAST,
    PREDICATES,
    REGAINED,
    UNIQUE,
    WENT,
)
from engine.memory.knowledge.parts import in_part
from engine.memory.wording import content, in_order, names, negations, numbers, opposed
from engine.records.base import EntityId
from engine.records.knowledge import KnowledgeKind
from engine.records.tokens import bare, referred

Relation = Literal["same", "more", "ends", "disputes", "unclear", "apart"]
"""Of an older statement and a newer one. `same`: they say the same. `more`: one says all that the other says, and something besides.
`ends`: what the older says was so until the newer. `disputes`: one of them is wrong, and the newer counts. `unclear`: they speak of the
same and words do not tell. `apart`: both can hold."""
CONTRADICTS: frozenset[Relation] = frozenset({"ends", "disputes"})

_FEW = 2
"""Words that one statement may have beyond the other where the other's all stand in it."""
_DENIALS = frozenset(stem(word) for word in ("never", "neither", "cannot", "longer", "anymore"))
_POSSESSED = re.compile(r"\{\{e:([A-Za-z0-9_.-]+)\}\}['\u2019]s\s")


class Statement(Protocol):
    """What is compared of a piece of knowledge."""

    @property
    def kind(self) -> KnowledgeKind:
        """Fact, decision or strategy."""
        ...

    @property
    def subject_id(self) -> EntityId | None:
        """Whom it is about."""
        ...

    @property
    def content(self) -> str:
        """With reference tokens."""
        ...

    @property
    def rationale(self) -> str:
        """Of a decision; trigger and context of a strategy."""
        ...

    @property
    def topic_key(self) -> str:
        """What it is about, in a key."""
        ...


def relation(older: Statement, newer: Statement) -> Relation:
    """How two statements stand to each other. `older` is the one that began to hold first. What ends a part of the older only, ends
    nothing."""
    found = _relation(older, newer)
    return "unclear" if found in CONTRADICTS and in_part(older.content, newer.content) else found


def _relation(older: Statement, newer: Statement) -> Relation:
    if not comparable(older, newer):
        return "apart"
    a, b = older.content, newer.content
    one, other = core(a), core(b)
    shared = not one.isdisjoint(other)
    if (shared or not one) and _alike(older, newer):
        return "same"
    if older.kind == "strategy":
        return "unclear" if shared else "apart"
    if _instead(older, newer):
        return "ends"
    if not shared:  # most have nothing to do with each other
        return "disputes" if referred(a) == referred(b) and denies(a) == denies(b) and _contrary(a, b) else "apart"
    if _over(a, b) or _parted(a, b, newer.subject_id) or _regained(a, b):
        return "ends"
    disputed = _disputed(a, b)
    if disputed is not None:
        return disputed
    if agree(a, b) and referred(a) == referred(b):
        if core(a) == core(b) and core(a):
            return "same"
        if core(a) < core(b) or core(b) < core(a):
            return "more"
    return "unclear"


def comparable(a: Statement, b: Statement) -> bool:
    """Whether two statements can say the same or contradict each other at all: of one kind, and not about two subjects."""
    return a.kind == b.kind and (a.subject_id is None or b.subject_id is None or a.subject_id == b.subject_id)


def same_words(a: Statement, b: Statement) -> bool:
    """Whether two statements are word for word the same, of one kind and about one subject."""
    return a.kind == b.kind and a.subject_id == b.subject_id and _alike(a, b)


def agree(a: str, b: str) -> bool:
    """Whether two texts agree in what a cosine misses: numbers, negation, names, either-or words, and the order of what they share."""
    if denies(a) != denies(b) or names(a) != names(b) or opposed(a, b) or not in_order(a, b):
        return False
    return numbers(a) == numbers(b)


def richer(a: str, b: str) -> bool:
    """Whether `a` says all that `b` says and more."""
    return core(a) > core(b)


@lru_cache(maxsize=16_384)
def denies(text: str) -> bool:
    """Whether a text says that something is not so, or not any more."""
    plain = bare(text)
    return negations(ENDED.sub(" ", plain)) % 2 == 1 or ENDED.search(plain) is not None


@lru_cache(maxsize=16_384)
def core(text: str) -> frozenset[str]:
    """The content words of a text by their stems, without those of denial; what somebody has and what it owns is one."""
    plain = bare(text).casefold()
    return content(ENDED.sub(" ", OWNS.sub("owns ", plain))) - _DENIALS


def _alike(a: Statement, b: Statement) -> bool:
    """Whether they are the same text, case and white space aside."""
    return _folded(a.content) == _folded(b.content) and (a.kind != "strategy" or _folded(a.rationale) == _folded(b.rationale))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!")


def _over(a: str, b: str) -> bool:
    """Whether the newer says that what the older says is so no longer, or that what was over is so again."""
    if referred(a) != referred(b) or not core(a) or not _same_numbers(a, b):
        return False
    if _ended(b) and not denies(a):
        return _within(core(b), core(a))
    return _ended(a) and not denies(b) and core(a) == core(b)


def _ended(text: str) -> bool:
    return ENDED.search(bare(text)) is not None


def _same_numbers(a: str, b: str) -> bool:
    return not numbers(a) or not numbers(b) or numbers(a) == numbers(b)


def _within(few: frozenset[str], many: frozenset[str]) -> bool:
    """Whether what has the one set of words is a case of what has the other: a single word may stand in anything."""
    return few == many or (len(few) > 1 and few < many)


def _instead(older: Statement, newer: Statement) -> bool:
    """Whether a decision stands in the place of another on the same matter."""
    if older.kind != "decision" or not older.topic_key or older.topic_key != newer.topic_key:
        return False
    return INSTEAD.search(bare(newer.content)) is not None and INSTEAD.search(bare(older.content)) is None


def _parted(a: str, b: str, subject: EntityId | None) -> bool:
    """Whether the older says that somebody has a thing and the newer that it was sold, lost or given away."""
    if denies(a) or denies(b) or referred(a)[:1] != referred(b)[:1] or numbers(a) or numbers(b):
        return False
    if any(owner != (subject or (*referred(b), "")[0]) for owner in _POSSESSED.findall(a + b)):
        return False
    had, gone = _thing(a, HELD), _thing(b, PARTED) or _thing_before(b)
    if not had or not gone or had[-1] != gone[-1] or had[-1] in NOT_THINGS or _several(a):
        return False
    one, other = set(had[:-1]), set(gone[:-1])
    return not one or not other or bool(one & other)


def _regained(a: str, b: str) -> bool:
    """Whether the older says that a thing was sold, lost or given away, and the newer that the same one has it back."""
    if denies(a) or denies(b) or referred(a)[:1] != referred(b)[:1] or numbers(a) or numbers(b):
        return False
    gone, back = _thing(a, PARTED) or _thing_before(a), _thing(b, REGAINED)
    return bool(gone and back and gone[-1] == back[-1] and gone[-1] not in NOT_THINGS)


def _thing(text: str, verb: re.Pattern[str]) -> tuple[str, ...]:
    """The stems of the name of the thing that stands behind a verb; the last is what kind of thing it is."""
    plain = bare(text).casefold()
    found = verb.search(plain)
    return _phrase(plain[found.end() :]) if found else ()


def _thing_before(text: str) -> tuple[str, ...]:
    """The same, of what stands before the verb: `the boat was sold`."""
    plain = bare(text).casefold()
    found = WENT.search(plain)
    if found is None:
        return ()
    words = plain[: found.start()].split()
    return tuple(stem(word) for word in words[-3:] if word not in ARTICLES and word.isalpha()) if words else ()


def _phrase(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in text.split():
        if word in BREAKS or word.strip(".,;!?") == "back":
            break
        bare_word = word.strip(".,;:!?\"'()\u2019")
        if bare_word and bare_word not in ARTICLES and bare_word != "own":
            found.append(stem(bare_word))
        if bare_word != word.lstrip("\"'("):
            break
    return tuple(found)


def _several(text: str) -> bool:
    """Whether a text speaks of more than one thing: what ends one of them does not end all."""
    return re.search(r"\band\b|,", NAMED.sub("", bare(text))) is not None


def _disputed(a: str, b: str) -> Relation | None:
    """`disputes` when one of two statements must be wrong, `unclear` when one may be, None when nothing speaks for it."""
    one, other = core(a), core(b)
    if not one or not other:
        return None
    if len(referred(a)) != len(referred(b)) or referred(a)[:1] != referred(b)[:1]:
        return None
    if referred(a) != referred(b):
        return _once(a, b) if one == other else None
    if denies(a) != denies(b):
        weaker, stronger = (one, other) if denies(a) else (other, one)
        return "disputes" if _same_numbers(a, b) and _within(weaker, stronger) else None
    if _contrary(a, b):
        return "disputes"
    if numbers(a) != numbers(b) and len(numbers(a)) == len(numbers(b)) and one == other:
        return "unclear" if _event(a) and _event(b) else "disputes"
    mine, theirs = _stems(names(a)), _stems(names(b))
    if mine and theirs and mine.isdisjoint(theirs) and one - mine == other - theirs:
        return _once(a, b)
    return "unclear" if one == other and opposed(a, b) else None


def _contrary(a: str, b: str) -> bool:
    """Whether the same is said with words of which only one can hold."""
    one, other = core(a), core(b)
    for groups, among in ((PREDICATES, _is), (ATTITUDES, core), (HOURS, core)):
        for word in among(a) - other:
            for contrary in groups.get(word, frozenset()) & among(b) - one:
                rest, others = one - {word}, other - {contrary}
                if rest == others or (_nested(rest, others) and groups is not HOURS):
                    return True
    return False


def _nested(a: frozenset[str], b: frozenset[str]) -> bool:
    return (a <= b or b <= a) and abs(len(a) - len(b)) <= _FEW


@lru_cache(maxsize=16_384)
def _is(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in IS.findall(bare(text).casefold()))


def _once(a: str, b: str) -> Relation:
    """What two statements are that differ in a name only."""
    return "disputes" if UNIQUE.search(bare(a).casefold()) and UNIQUE.search(bare(b).casefold()) else "unclear"


def _event(text: str) -> bool:
    return PAST.search(bare(text)) is not None


def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(word.casefold()) for word in words)
