"""A beat put into one to three sentences, with the words worth keeping."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from engine.llm.storyteller.handoff.beats import AMBIENT
from engine.llm.storyteller.handoff.manner import USUAL, Manner
from engine.llm.storyteller.handoff.otherwise import otherwise
from engine.llm.storyteller.handoff.report import Report

_SENTENCE = 44
"""Words of a sentence that joins two moments."""
_QUOTES = 2
_ASKING = frozenset((
    "ask", "request", "ask_name", "press", "accuse", "reproach", "threat", "offer", "order", "price", "warn", "name",
))  # fmt: skip
_REPLIES = frozenset((
    "answer", "pass", "deny", "no", "yes", "claim", "state", "defy", "fear", "sorry", "confess", "doubt", "name", "accuse", "promise",
    "witness", "secret",
))  # fmt: skip
_BARE_REPLIES = frozenset(("pass", "deny", "no", "yes", "defy", "fear", "doubt"))
"""Replies that say nothing without what they reply to."""
_NEW = _ASKING - _REPLIES - {"price"}
"""What begins something new, even when it is said to who has just asked."""
_NOT_THIRD = r"\bI\b|\b(?:me|my|myself|we|us|ours?|ourselves|you|your|yours|yourself|yourselves)\b"
_LIKE_REFUSALS = (
    r"\b(?:sorry|apologi[sz]e),? (?:but )?(?:this|that)\b|\bunable to\b|\bas an? (?:assistant|large|ai|artificial)\b|language model"
    r"|\b(?:cannot|can not) (?:assist|comply|help with|provide|process)\b"
)
_UNFIT = re.compile(rf"[\"\u201c\u201d]|{_NOT_THIRD}|(?<!\w)M\d+(?!\w)|{_LIKE_REFUSALS}", re.IGNORECASE)
"""What an account must not hold: it would be taken for speech, for a handle of the prompt or for a model that refuses."""
_STATED = re.compile(r"^told (?:P\d+(?:, | and )?)+ that\b|^said that\b")
_WORDS = re.compile(r"[^\W_]")
"""A letter or a figure: what has none is no quote."""
_WONDERED = re.compile(r"^(?:still )?wanted to know ")


def tellable(report: Report) -> bool:
    """Whether a report can stand in an account: told in the third person, without quotation marks."""
    return bool(report.predicate) and bool(report.subject) and fit(report.predicate)


def fit(text: str) -> bool:
    """Whether a text is told in the third person, without quotation marks and handles of entries."""
    return _UNFIT.search(text) is None


def chosen(reports: Sequence[Report], manner: Manner = USUAL) -> list[Report]:
    """The moments of a beat that are told, in order of time: the weightiest, each weighty question with its answer, nothing twice."""
    most = manner.choice.most
    usable = once([report for report in reports if tellable(report)])
    ranked = sorted(usable, key=lambda report: (-report.weight, report.moment.index))
    asked = [report for report in usable if report.weight > AMBIENT]
    replies = {answer.moment.index for report in asked if (answer := answer_to(report, usable)) is not None}
    weighty = [one for one in ranked if one.weight > AMBIENT and (one.act not in _BARE_REPLIES or one.moment.index in replies)]
    kept = {report.moment.index for report in weighty[:most]}
    if not kept and ranked:
        kept = {ranked[0].moment.index}
    for report in usable:
        answer = answer_to(report, usable) if report.moment.index in kept else None
        if answer is not None and len(kept) < most + 1:
            kept.add(answer.moment.index)
    kept -= {
        answer.moment.index for report in usable
        if report.moment.index not in kept and (answer := answer_to(report, usable)) and answer.act in _BARE_REPLIES and len(kept) > 1
    }  # fmt: skip
    if any(report.moment.mode == "thought" for report in usable if report.moment.index in kept):
        kept |= _context(usable, kept)
    return [report for report in usable if report.moment.index in kept]


def answer_to(report: Report, reports: Sequence[Report]) -> Report | None:
    """What the one spoken to replied, if it is among the reports and before the speaker spoke again of something else."""
    if report.act not in _ASKING or report.moment.mode == "thought":
        return None
    asked = report.moment.people - {report.subject}
    for later in reports:
        if later.moment.index <= report.moment.index or later.moment.mode != "said":
            continue
        if later.subject in asked and (report.subject in later.moment.to or not later.moment.to):
            return later if later.act in _REPLIES else None
        if later.subject == report.subject and set(later.moment.to) & asked and later.act != "press":
            return None
    return None


def lone_reply(report: Report, reports: Sequence[Report]) -> bool:
    """Whether a report is of a reply that says nothing without what it replies to, and that is not among the reports."""
    return report.act in _BARE_REPLIES and not any(answer_to(one, reports) is report for one in reports)


def exchanges(told: Sequence[Report]) -> list[list[Report]]:
    """The chosen moments by what goes together: a question with its answer, a thought with the deed it follows. A reply that says
    nothing alone, and what weighs little, stay with what is before them."""
    found: list[list[Report]] = []
    for report in told:
        home = next((group for group in reversed(found) if any(answer_to(one, told) is report for one in group)), None)
        if home is None and found and _goes_on(report, found[-1][-1]):
            home = found[-1]
        if home is None:
            found.append([report])
        else:
            home.append(report)
    return found


def _goes_on(report: Report, before: Report) -> bool:
    """Whether a moment belongs to the one before it: as a thought of a deed, as what was said to something asked, as mere company."""
    one, other = before.moment, report.moment
    if other.mode == "thought":
        return one.mode == "done" and before.subject == report.subject
    between = one.mode == other.mode == "said" and report.subject in one.to and before.subject in other.to
    if between and before.act in _ASKING and report.act not in _NEW:
        return True
    return report.weight <= AMBIENT or report.act in _BARE_REPLIES or report.predicate.startswith("answered ")


def content(told: Sequence[Report], manner: Manner = USUAL) -> str:
    """The account of the chosen moments."""
    sentences: list[str] = []
    indexes = {report.moment.index for report in told}
    waiting = [_worded(replace(report, predicate=report.brief) if report.after in indexes else report, manner) for report in told]
    while waiting:
        report = waiting.pop(0)
        sentence = report.text
        while manner.joined and waiting and (joined := _joined(sentence, report, waiting[0])):
            sentence, report = joined, waiting.pop(0)
        sentences.append(sentence if sentence.endswith((".", "!", "?")) else f"{sentence}.")
    return " ".join(sentences)


def _worded(report: Report, manner: Manner) -> Report:
    """A report in the words of a manner. What was done keeps the words in which it was seen."""
    return replace(report, predicate=otherwise(report.predicate)) if manner.anew and report.moment.mode != "done" else report


def quotes(told: Sequence[Report], used: Sequence[Report], manner: Manner = USUAL) -> list[str]:
    """The weightiest words, at the most two, in the order they were said; other ones as the manner has it, if there are others.

    Words come from what is told, and from what of `used` tells the same. What says nothing without its words goes before all; and
    an account of nothing else has the words of its first moment.
    """
    spoken = [report for report in used if report.quote and (report in told or any(one.text == report.text for one in told))]
    if all(map(says_nothing, told)):
        silent = next((report for report in told if report.moment.mode == "said" and _WORDS.search(report.moment.words)), None)
        if silent is not None and not spoken:
            return [silent.moment.words]
    ranked = sorted(spoken, key=lambda report: (not report.bare, -report.weight, report.moment.index))
    if manner.quotes == "further" and len(ranked) > 1 and not ranked[0].bare:
        ranked = ranked[1:]
    ranked = ranked[: 1 if manner.quotes == "one" else _QUOTES]
    return list(dict.fromkeys(report.quote for report in spoken if report in ranked))


def _joined(sentence: str, report: Report, following: Report) -> str:
    """Two moments as one sentence, when the second answers or goes on with the first; empty when they stand apart."""
    length = len(sentence.split()) + len(following.text.split())
    if length > _SENTENCE or sentence.count(";") > 1:
        return ""
    if following.moment.mode == "thought" and following.subject == report.subject:
        return f"{sentence}, and {_going_on(following)}" if ";" not in sentence and ", and " not in sentence else ""
    if report.moment.mode == "said" and following.moment.mode == "said":
        if following.subject in report.moment.to and (report.subject in following.moment.to or not following.moment.to):
            answering = report.act in _ASKING and following.act in _REPLIES
            said = _STATED.sub("answered that", following.predicate) if answering else following.predicate
            return f"{sentence}; {following.subject} {said}" if ";" not in sentence else ""
        same = following.subject == report.subject and following.moment.to == report.moment.to
        if same and ";" not in sentence and "," not in sentence and ":" not in sentence:
            return f"{sentence} and {_going_on(following)}"
    short = length <= _SENTENCE // 2 and not {",", ";", ":"} & set(sentence) and " and " not in sentence
    if following.subject == report.subject and report.moment.mode == following.moment.mode == "done" and short:
        return f"{sentence} and {_going_on(following)}"
    return ""


def _going_on(report: Report) -> str:
    """A predicate after `and`; with its subject again where a verb must agree with it, since that may come to read `you`."""
    return report.text if re.match(r"(?:was|has|is|does)\b", report.predicate) else report.predicate


def says_nothing(report: Report) -> bool:
    """Whether a report says nothing by itself, without the words or what they reply to."""
    return report.bare or report.act in _BARE_REPLIES


def once(reports: Sequence[Report]) -> list[Report]:
    """The reports without those that tell the same as an earlier one, and one of a kind of somebody's thoughts. Who has asked
    something need not be told to wonder about it."""
    found: list[Report] = []
    seen: set[str] = set()
    for report in reports:
        keys = {report.text.casefold()}
        if report.moment.mode == "thought" and report.act != "thought":
            keys.add(f"{report.subject} {report.act}")
        wondered = _WONDERED.sub("", report.predicate) if report.moment.mode == "thought" else report.predicate
        asked = wondered != report.predicate and any(one.subject == report.subject and wondered in one.predicate for one in found)
        if not keys & seen and not asked:
            found.append(report)
            seen |= keys
    return found


def _context(usable: Sequence[Report], kept: set[int]) -> set[int]:
    """The deed right before a kept thought, if it is in the beat."""
    found: set[int] = set()
    for before, report in pairwise(usable):
        follows = report.moment.mode == "thought" and before.moment.mode == "done" and before.subject == report.subject
        if follows and report.moment.index in kept:
            found.add(before.moment.index)
    return found
