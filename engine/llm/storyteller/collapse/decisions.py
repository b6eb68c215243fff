"""Decisions: what was settled, why, and what it stands in the place of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from engine.llm.storyteller.claims.comparing import compared
from engine.llm.storyteller.claims.complement import DETERMINERS, HANDLE, PREPOSITIONS
from engine.llm.storyteller.claims.lexicon import word_set as claim_words
from engine.llm.storyteller.claims.reading import Claim, read_claims
from engine.llm.storyteller.claims.topic import topic_key
from engine.llm.storyteller.collapse.heard import Heard, together
from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.collapse.talk import Talk
from engine.llm.storyteller.collapse.thirdperson import in_third_person
from engine.llm.storyteller.collapse.wording import weight_of_words
from engine.llm.storyteller.handoff.salience import topics
from engine.llm.storyteller.phrases import words

LONGEST: Final = 200
LONGEST_REASON: Final = 160
_SOON, _LATER = 2, 6
"""Turns after a decision in which a reason belongs to it, and in which a mere time is another time for it; with an `instead` it is that
later too."""
_MOST_TURNS = 6
_OF_US = re.compile(r"\b(?:i|we|us)\b", re.IGNORECASE)
_CHANGED = re.compile(r"\b(?:instead|rather|changed (?:my|his|her|our) mind|after all|no longer|on second thoughts?)\b", re.IGNORECASE)
_OFF = re.compile(r"\b(?:is|are) off\b|^(?:forget (?:it|that|the plan)|call it off|it is off|i take it back|i withdraw)\b", re.IGNORECASE)
_BECAUSE = re.compile(r"^(?:because|for otherwise|otherwise|else|that way) (?P<why>.+)$", re.IGNORECASE)
_SURE = frozenset(("am", "have", "mean", "intend", "refuse"))
"""Words after `I` that make anything a decision."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that was settled."""

    content: str
    who: str
    """Whose it is, as its subject stands: `P2`, `P1 and P2`."""
    deed: str
    """What is to be done, after `will`."""
    rationale: str
    key: str
    turns: tuple[str, ...]
    claims: tuple[Claim, ...]
    index: int
    agreed: bool = True
    """Whether it holds without the other's word."""
    supersedes: str = ""
    """Handle of what was known before."""
    replaced: bool = False


@cache
def _words(heading: str) -> frozenset[str]:
    return words("collapsing_words")[heading]


def decisions_of(sentences: Sequence[Heard], talk: Talk) -> list[Decision]:
    """What was settled in a talk, in order. What a later word put something else in the place of is marked; what was refused is left
    out."""
    found: list[Decision] = []
    last: Decision | None = None
    for at, one in enumerate(sentences):
        if one.turn.note:
            continue
        if last is not None and one.first and one.turn.index == _turn_after(last, sentences):
            last = _answered(last, one, sentences, at, found)
        amended = _amended(one, last) if last is not None else None
        decided = amended or _decided(one, talk)
        if decided is None:
            if last is not None and _OFF.search(one.plain) and not one.asking:
                found = [old for old in found if old is not last]
            elif last is not None:
                last = _explained(last, one, talk, found)
            continue
        outdone = [
            index for index, old in enumerate(found)
            if not old.replaced and (old is last if decided is amended else _replaces(decided, old, one))
        ]  # fmt: skip
        for index in outdone:
            found[index] = replace(found[index], replaced=True, agreed=True)
        decided = _marked(decided) if outdone else decided
        same = next((index for index, old in enumerate(found) if not old.replaced and _same(decided, old)), -1)
        if same < 0:
            found.append(decided)
        else:
            found[same] = decided = _joined(found[same], decided)
        last = decided
    return [_against_known(one, talk) for one in found if one.agreed]


def _answered(last: Decision, one: Heard, sentences: Sequence[Heard], at: int, found: list[Decision]) -> Decision:
    """The last decision after what the other says to it: agreed to, or refused and taken out of what was `found`."""
    index = next((index for index, old in enumerate(found) if old is last), -1)
    if index < 0 or one.turn.handle in last.turns:
        return last
    if not last.agreed and pattern("yes").match(one.said):
        found[index] = replace(last, agreed=True)
        return found[index]
    if pattern("no").match(one.said) and " and " in last.who and not _alternative(sentences, at):
        del found[index]
    return last


def _explained(last: Decision, one: Heard, talk: Talk, found: list[Decision]) -> Decision:
    """The last decision with the reason that its speaker gives right after it, asked for or not."""
    because = _BECAUSE.match(one.plain)
    index = next((index for index, old in enumerate(found) if old is last), -1)
    late = one.turn.index - last.index > _SOON or one.turn.who not in HANDLE.findall(last.who)
    if because is None or index < 0 or last.rationale or late:
        return last
    found[index] = replace(last, rationale=_told(because["why"], one, talk, LONGEST_REASON))
    return found[index]


def means(one: Heard) -> bool:
    """Whether a sentence says what its speaker is going to do: settled or not, that is no fact."""
    return _OF_US.search(one.plain) is not None and any(pattern(name).match(one.plain) for name in ("let_us", "we", "we_do", "mine"))


def _turn_after(last: Decision, sentences: Sequence[Heard]) -> int:
    """Place of the first turn after a decision that is somebody else's."""
    return next((one.turn.index for one in sentences if one.turn.index > last.index), -1)


def _alternative(sentences: Sequence[Heard], at: int) -> bool:
    """Whether who refuses names something else in the same turn."""
    turn = sentences[at].turn
    said = [one for one in sentences[at : at + 3] if one.turn is turn]
    return any(_time_of(one) or pattern("let_us").match(one.plain) or pattern("we").match(one.plain) for one in said)


def _decided(one: Heard, talk: Talk) -> Decision | None:
    """What a sentence settles."""
    if one.asking:
        match = pattern("proposed").match(one.plain)
        if match is None or match["deed"].split()[0].lower() in _words("idle_together"):
            return None
        with_me = re.sub(r"\bme\b", "", match["deed"]) if "you" in match["who"].lower() else match["deed"]
        if "you" in match["who"].lower() and " me" not in f" {match['deed']}":
            return None
        return _made(f"{talk.agent} and {talk.other}", with_me, one, talk, denied=False, agreed=False)
    if one.ordering and pattern("let_us").match(one.plain) is None:
        return None
    text = one.plain
    if _OF_US.search(text) is None:
        return None
    both = pattern("let_us").match(text) or pattern("we").match(text) or pattern("we_do").match(text)
    if both is not None and one.turn.who and one.turn.to:
        deed = both["deed"]
        if deed.split()[0].lower() in _words("idle_together") or (both.re is pattern("we_do") and not _weighty(deed)):
            return None
        return _made(f"{talk.agent} and {talk.other}", deed, one, talk, denied=bool(both.groupdict().get("not")))
    mine = pattern("mine").match(text)
    if mine is None or not one.turn.who:
        return None
    will, deed = mine["will"].lower(), mine["deed"]
    denied = bool(mine["not"]) ^ (" not " in f" {will} ") ^ (will == "refuse to")
    verb = deed.split()[0].lower()
    if verb in DETERMINERS or verb in PREPOSITIONS:
        return None
    if (verb in _words("idle") and will.split()[0] not in _SURE) or not (_weighty(deed) or denied or will.split()[0] in _SURE):
        return None
    return _made(one.turn.who, deed, one, talk, denied=denied)


def _weighty(deed: str) -> bool:
    """Whether a deed is more than a word: it has a time, a number, or anything to it that matters."""
    claims = read_claims(f"P1 will {deed}")
    return any(claim.times or claim.numbers or claim.proper or claim.names or claim.head for claim in claims) or weight_of_words(deed) > 0


def _made(who: str, deed: str, one: Heard, talk: Talk, *, denied: bool, agreed: bool = True) -> Decision | None:
    """A decision; None when it cannot be told in the third person."""
    told = _told(f"will {'not ' if denied else ''}{deed}", one, talk, LONGEST + LONGEST_REASON, subject=who)
    reason = pattern("reason").search(told)
    why = reason["why"] if reason is not None and len(reason["why"]) < LONGEST_REASON else ""
    told = (told[: reason.start()] if reason is not None else told).strip(" ,")
    content = f"{who} {told}"
    claims = read_claims(content) if told else ()
    if not claims or len(content) >= LONGEST:
        return None
    key = _key(content, who if HANDLE.fullmatch(who) else talk.other, claims[0])
    return Decision(f"{content}.", who, told, why, key, (one.turn.handle,), claims, one.turn.index, agreed)


def _key(content: str, subject: str, claim: Claim) -> str:
    """The key of a decision. What is to be found out, `who had the skiff`, is a matter of what is spoken of in it."""
    found = topic_key(content, subject) or claim.relation.rpartition(":")[2].replace(" ", "_")
    about = topics(content, most=1) if not (claim.head or claim.times or "_" in found) else []
    noun = about[0].split()[-1] if about else ""
    return f"{found}_{noun}" if noun.isascii() and noun.isalpha() else found


def _told(text: str, one: Heard, talk: Talk, longest: int, subject: str = "") -> str:
    """Words of a sentence in the third person, where `we` means both who talk; empty when that is not safe or they are too long."""
    found = in_third_person(text, together(one, talk), one.focus)
    if subject and " and " in subject:
        found = found.replace(f"{subject}'s", "their")
    return found if len(found) < longest else ""


def _time_of(one: Heard) -> str:
    """The time that a sentence names in the place of another, with its preposition; empty for none."""
    match = pattern("instead").match(one.plain)
    if match is None or not (set(match["time"].lower().split()) & claim_words("times")):
        return ""
    if match["time"].lower() in _BARE_TIMES:
        return match["time"]
    return f"{match['prep'].lower() if match['prep'] else 'at'} {match['time']}"


_BARE_TIMES = frozenset(("tonight", "tomorrow", "today"))


def _amended(one: Heard, last: Decision) -> Decision | None:
    """The last decision with another time: `No, at noon instead.`"""
    time = in_third_person(_time_of(one), one.sides, one.focus) if not one.asking else ""
    far = one.turn.index - last.index > _LATER and _CHANGED.search(one.plain) is None
    if not time or far or one.turn.handle in last.turns:
        return None
    said = last.deed.split()
    spot = next((at for at, word in enumerate(said) if word.strip(",").lower() in claim_words("times")), -1)
    if spot < 0:
        deed = f"{last.deed} {time}"
    else:
        start = spot - 1 if spot and said[spot - 1].lower() in ("at", "on", "by", "before", "after", "in", "the", "next", "that") else spot
        if start and said[start].lower() in ("the", "next") and said[start - 1].lower() in ("at", "on", "by", "the", "before", "after"):
            start -= 1
        deed = " ".join([*said[:start], time, *said[spot + 1 :]])
    content = f"{last.who} {deed} instead"
    claims = read_claims(content)
    if claims and claims[0].times == last.claims[0].times:
        return None
    return replace(
        last, content=f"{content}.", deed=deed, rationale="", turns=(*last.turns[-1:], one.turn.handle), claims=claims,
        index=one.turn.index, agreed=True, replaced=False,
    )  # fmt: skip


def _marked(one: Decision) -> Decision:
    """A decision that says that it stands in the place of another."""
    if _CHANGED.search(one.content) or "instead" in one.content:
        return one
    return replace(one, content=f"{one.content.rstrip('.')} {'after all' if ' will not ' in one.content else 'instead'}.")


def _same(new: Decision, old: Decision) -> bool:
    found = compared(new.claims, old.claims)
    return new.content == old.content or (found is not None and found.standing == "supported")


def _joined(old: Decision, new: Decision) -> Decision:
    fuller = new if len(new.content) > len(old.content) else old
    return replace(
        fuller, rationale=old.rationale or new.rationale, key=old.key, turns=tuple(dict.fromkeys((*old.turns, *new.turns)))[:_MOST_TURNS],
        index=old.index, agreed=True,
    )  # fmt: skip


def _replaces(new: Decision, old: Decision, one: Heard) -> bool:
    """Whether a decision stands in the place of another: both cannot be done, or it says so and is of the same matter."""
    if new.who != old.who and not set(HANDLE.findall(new.who)) & set(HANDLE.findall(old.who)):
        return False
    found = compared(new.claims, old.claims)
    if found is not None:
        return found.standing == "contradicted"
    if not new.claims or not old.claims or not new.key or new.key != old.key:
        return False
    return _CHANGED.search(one.said) is not None or new.claims[0].times != old.claims[0].times


def _against_known(one: Decision, talk: Talk) -> Decision:
    """A decision with the key of what was known of its matter, and the handle of what it replaces of that."""
    for known in talk.known:
        if known.kind != "decision":
            continue
        found = compared(one.claims, read_claims(known.text))
        related = bool(known.key) and known.key == one.key
        if found is None and not related:
            continue
        other = found.standing == "contradicted" if found is not None else bool(one.claims[0].times) and one.content != known.text
        key = known.key or one.key
        return replace(_marked(one), supersedes=known.handle, key=key) if other else replace(one, key=key)
    return one
