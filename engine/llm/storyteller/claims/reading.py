"""Sentences in the third person as claims: who or what, in what relation, to what."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from engine.llm.storyteller.claims.complement import (
    DETERMINERS,
    HANDLE,
    PARTICLES,
    PREPOSITIONS,
    STOPS,
    Complement,
    Phrase,
    figure_of,
    is_place,
    read_complement,
    root,
)
from engine.llm.storyteller.claims.lexicon import Relation, relations, stems_under, word_set
from engine.llm.storyteller.claims.verbgroup import VerbGroup, finite_alone, read_verb, verb_at
from engine.llm.storyteller.handoff.sentence import is_adverb, opened

TOKEN: Final = re.compile(r"[^\W_][\w'\u2019-]*|[,;:]")
_SHORT = re.compile(r"n['\u2019]t\b|['\u2019](?:re|ll|ve|m|d)\b|\b(?:he|she|it|that|there|who)['\u2019]s\b", re.IGNORECASE)
_AGE = re.compile(r"(?P<age>[\w-]+)(?: (?:years old|years of age|winters old|summers old)|$)")
PRONOUNS: Final = frozenset(("he", "she", "it", "they"))
_HANDED = frozenset(("give", "hand", "sell", "return", "lend"))
_MOST_WORDS = 60


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a sentence says of somebody or something."""

    subject: str
    """A handle in lower case, a name, or the stem of a noun, after `owner:` when it is somebody's."""
    relation: str
    """`own`, `live`, the base form of a verb; with its mood before a colon when it is not plainly so: `will:sail`, `was:own`."""
    holds: bool
    head: str
    """Stem of what it is about; empty for none."""
    modifiers: frozenset[str] = frozenset()
    numbers: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    place: str = ""
    definite: bool = False
    proper: bool = False
    """Whether what it is about is a name or a handle."""
    changed: bool = False
    """Whether it tells of a change: sold, no longer, now."""

    @property
    def person(self) -> bool:
        """Whether its subject has a handle."""
        return HANDLE.fullmatch(self.subject) is not None


@lru_cache(maxsize=4096)
def read_claims(text: str) -> tuple[Claim, ...]:
    """The claims of a text in the third person with handles; none when it makes no statement that can be read."""
    if _SHORT.search(text):
        text = opened(text)
    raw = TOKEN.findall(text.replace("\u2019", "'"))[:_MOST_WORDS]
    low = [token.lower() for token in raw]
    found: list[Claim] = []
    start, subject, clauses = 0, "", 0
    while start < len(low) and clauses < 4:
        clauses += 1
        at = verb_at(low, start) if not finite_alone(low[start]) or not subject else start
        if at < 0:
            break
        while at - 1 > start and (is_adverb(low[at - 1]) or low[at - 2 : at] == ["no", "longer"]):
            at -= 2 if low[at - 1] == "longer" else 1
        if at > start:
            subject = _subject(raw, low, start, at, subject)
        group = read_verb(low, at)
        if group is None:
            break
        end = _clause_end(low, group.end)
        found += _claims(subject, group, raw, low, end)
        start = _next_clause(low, end)
    return tuple(found)


def _subject(raw: Sequence[str], low: Sequence[str], start: int, end: int, before: str) -> str:
    """Who or what a clause is about; `there` for `there is`."""
    words = [low[index] for index in range(start, end) if not is_adverb(low[index]) or low[index] == "there"]
    if words and words[0] in PRONOUNS and before:
        return before
    if words == ["there"]:
        return "there"
    handles = [word for word in words if HANDLE.fullmatch(word)]
    if len(handles) > 1 and all(word in ("and", ",") or HANDLE.fullmatch(word) for word in words):
        return " and ".join(sorted(set(handles)))
    owner, head = "", ""
    for index in range(start, end):
        word = low[index]
        if word in PREPOSITIONS or word in STOPS or word == ",":
            if head or owner:
                break
            continue
        timed = word in word_set("times") and bool(head)
        if timed or word in DETERMINERS or (is_adverb(word) and not raw[index][0].isupper()):
            continue
        if word.endswith(("'s", "s'")):
            owner = root(word)
        else:
            head = f"{head} {root(word)}" if head and raw[index][0].isupper() and raw[index - 1][0].isupper() else root(word)
    return f"{owner}:{head}" if owner and head else head or owner


def _clause_end(low: Sequence[str], start: int) -> int:
    """Where what belongs to a verb ends: at a word that opens another clause, or at `and` before another verb."""
    for index in range(start, len(low)):
        word = low[index]
        if word in STOPS and not (word == "so" and index + 1 < len(low) and low[index + 1] not in ("that", "he", "she", "it", "they")):
            return index
        if word in ("and", ",") and opens_clause(low, index + 1):
            return index
    return len(low)


def opens_clause(low: Sequence[str], index: int) -> bool:
    """Whether another clause begins at a word: with a verb, or with a subject and its verb."""
    while index < len(low) and (low[index] == "and" or (is_adverb(low[index]) and low[index] not in ("not", "never"))):
        index += 1
    if index >= len(low):
        return False
    if finite_alone(low[index]):
        return True
    opens = low[index] in PRONOUNS or HANDLE.fullmatch(low[index]) is not None or low[index] in DETERMINERS
    return opens and 0 < verb_at(low, index) <= index + 4


def _next_clause(low: Sequence[str], end: int) -> int:
    """Where the next clause that states anything begins. What only gives a reason or a condition states nothing of its own."""
    index = end
    while index < len(low) and low[index] in ("and", "but", ",", ";"):
        index += 1
        while index < len(low) and is_adverb(low[index]) and low[index] not in ("not", "never"):
            index += 1
    return index if index > end and index < len(low) and low[index] not in STOPS else len(low)


def _claims(subject: str, group: VerbGroup, raw: Sequence[str], low: Sequence[str], end: int) -> list[Claim]:
    """What one clause claims: mostly one thing; two when something changes hands."""
    rest = read_complement(raw, low, group.end, end)
    if group.voice == "be":
        one = _being(subject, group, rest, low, end)
        return [one] if one is not None else []
    if group.verb == "belong":
        return _belonging(subject, group, rest)
    if group.verb in _HANDED and group.voice == "active" and not group.mood:
        return _handing(subject, group, rest)
    relation, used = _relation(group, rest, low)
    return [_made(subject, group, relation, used, rest)]


def _relation(group: VerbGroup, rest: Complement, low: Sequence[str]) -> tuple[Relation | None, Phrase | None]:
    """The relation that a verb stands for with what follows it, and the phrase it is about."""
    known = relations()
    for phrase in rest.phrases:
        found = known.get(f"{group.verb}_{phrase.preposition}")
        if found is not None and not rest.objects:
            return found, phrase
    if rest.particle and (found := known.get(f"{group.verb}_{rest.particle}")):
        return found, rest.objects[0] if rest.objects else None
    if rest.particle:
        return None, rest.objects[0] if rest.objects else None
    if group.voice == "passive":
        return None, next((phrase for phrase in rest.phrases if phrase.preposition == "by"), None)
    person = len(rest.objects) > 1 and HANDLE.fullmatch(rest.objects[0].head) is not None
    first = rest.objects[person] if rest.objects else rest.phrases[0] if rest.phrases and rest.phrases[0].head else None
    found = known.get(group.verb)
    return (found if rest.objects or found is None or found.name == "alive" else None), first


def _made(subject: str, group: VerbGroup, relation: Relation | None, about: Phrase | None, rest: Complement) -> Claim:
    """The claim of a verb about a phrase."""
    if group.verb == "keep" and any(map(is_place, rest.phrases)):
        relation = relations()["store"]  # where it keeps a thing is another matter than that it has one
    holds = not group.denied and not group.ended
    if about is not None and about.denied:
        holds = not holds
    changed = group.ended
    name = relation.name if relation is not None else f"be {group.verb}" if group.voice == "passive" else group.verb
    if relation is not None and relation.kind in ("-", "end"):
        holds = not holds
    mood = group.mood
    if relation is not None and relation.kind in ("begin", "end"):
        changed = True
        if group.denied and not mood:
            # `did not sell the boat` says that it is still there
            mood = "" if relation.kind == "end" else "was"
    elif group.past and not group.ended and not mood and (relation is None or group.verb in word_set("states")):
        mood = "was"
    return _with(Claim(subject, f"{mood}:{name}" if mood else name, holds, "", changed=changed), about, rest)


def _with(claim: Claim, about: Phrase | None, rest: Complement) -> Claim:
    """The claim with what its phrases add."""
    others = [phrase for phrase in rest.everything if phrase is not about]
    place = next((phrase.head for phrase in others if is_place(phrase)), "")
    return replace(
        claim,
        head=about.head if about is not None else "",
        modifiers=about.modifiers if about is not None else frozenset(),
        numbers=about.numbers if about is not None else (),
        names=frozenset(name for phrase in others for name in phrase.names),
        times=frozenset(time for phrase in rest.everything for time in phrase.times),
        place=place,
        definite=about is not None and about.definite,
        proper=about is not None and about.head in about.names,
    )


def _being(subject: str, group: VerbGroup, rest: Complement, low: Sequence[str], end: int) -> Claim | None:
    """The claim of a clause whose verb is `be`."""
    holds, mood = not group.denied and not group.ended, group.mood or ("was" if group.past else "")
    changed = group.ended or "now" in low[group.end - 2 : end]

    def made(name: str, holds: bool, head: str, about: Phrase | None = None) -> Claim:
        if about is not None and about.denied:
            holds = not holds
        lasting = name in ("origin", "birth") or not mood
        claim = _with(Claim(subject, name if lasting else f"{mood}:{name}", holds, head, changed=changed), about, rest)
        return replace(claim, head=head or claim.head)

    words = [word for word in low[group.end : end] if not is_adverb(word) and word not in ("not", "never")]
    for size in (3, 2, 1):
        found = relations().get("_".join(["be", *words[:size]])) if len(words) >= size else None
        if found is not None:
            stands = holds if found.kind in ("+", "begin") else not holds
            about = next((phrase for phrase in rest.everything if phrase.head and phrase.head != root(words[0])), None)
            return made(found.name, stands, "", about)
    years = _AGE.match(" ".join(words))
    if years is not None and (figure := figure_of(years["age"])) is not None:
        return made("age", holds, figure)
    if words[:1] and words[0] in PARTICLES and not rest.objects:
        return made("be", holds, words[0])
    first, where = rest.objects[0] if rest.objects else None, next(filter(is_place, rest.phrases), None)
    if subject == "there":
        if first is None:
            return None
        place = made("at" if where is not None else "exist", holds != first.denied, where.head if where is not None else "")
        return replace(place, subject=first.head, numbers=first.numbers, modifiers=first.modifiers)
    owner, _, thing = subject.rpartition(":")
    if owner and thing == "name" and first is not None:
        return replace(made("name", holds, "", first), subject=owner)
    if first is None or first.head in stems_under("hidden"):
        if where is not None:
            return made("at", holds, where.head, where)
        times = frozenset(time for phrase in rest.everything for time in phrase.times)
        return made("be", holds, "", first) if first is not None or times else None
    return made("be", holds, "", first)


def _belonging(subject: str, group: VerbGroup, rest: Complement) -> list[Claim]:
    owner = next((phrase for phrase in rest.phrases if phrase.preposition == "to" and phrase.head), None)
    if owner is None:
        return []
    mood = group.mood or ("was" if group.past and not group.ended else "")
    thing = subject.rpartition(":")[2]
    holds = not group.denied and not group.ended
    return [Claim(owner.head, f"{mood}:own" if mood else "own", holds, thing, definite=True, changed=group.ended)]


def _handing(subject: str, group: VerbGroup, rest: Complement) -> list[Claim]:
    """What was given: one has it no longer, and another has it."""
    to = next((phrase for phrase in rest.phrases if phrase.preposition == "to" and phrase.head), None)
    thing = rest.objects[-1] if rest.objects else None
    if to is None and len(rest.objects) == 2:
        to = rest.objects[0]
    if thing is None or (to is None and group.verb != "sell"):
        return [_made(subject, group, None, thing, rest)]
    denied = group.denied
    first = _with(Claim(subject, "own", denied, "", changed=not denied), thing, rest)
    if to is None or denied:
        return [first]
    return [first, replace(first, subject=to.head, holds=True, names=frozenset())]
