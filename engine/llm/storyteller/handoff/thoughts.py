"""What was only thought, as it would be told: never as something that happened."""

import re
from functools import cache

from engine.llm.storyteller.handoff.bank import known
from engine.llm.storyteller.handoff.moments import Moment
from engine.llm.storyteller.handoff.questions import WH, indirect
from engine.llm.storyteller.handoff.recasting import clause
from engine.llm.storyteller.handoff.report import Report, Scene
from engine.llm.storyteller.handoff.salience import bonus, topics
from engine.llm.storyteller.handoff.sentence import Grounds, is_imperative, opened
from engine.llm.storyteller.handoff.telling import fill
from engine.llm.storyteller.language.text import listed, sentences
from engine.llm.storyteller.phrases import lines

_LONGEST = 30
_THIRD = re.compile(r"^(?P<pronoun>[Hh]e|[Ss]he|[Tt]hey)\b(?!['\u2019])")
_WEIGHT = 3
_FRAGMENT = 5
"""Words that a thought without a verb must have to be told."""
_HEAVIEST = 5


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    split = [line.split(" :: ") for line in lines("remembering_thoughts")]
    return tuple((act, re.compile(pattern.replace("{wh}", WH), re.IGNORECASE), telling) for act, pattern, telling in split)


def thought_report(moment: Moment, scene: Scene, about: str) -> Report:
    """What a thought amounts to. `about` is the one person it must mean by `he` or `she`; empty when that is not clear."""
    grounds = scene.grounds(moment)
    found = known(moment.words, thought=True)
    if found is not None:
        told = next((text for telling in found.tellings if (text := fill(telling, found.slots, grounds))), "")
        return Report(moment, told, found.act, found.weight)
    said = [_meant(sentence, about, scene) for sentence in sentences(moment.words)]
    weight = min(_HEAVIEST, _WEIGHT + (bonus(moment.words) >= 2) + bool(about and said and said[0].startswith(about)))
    told = _told(said, grounds)
    if told:
        return Report(moment, told, "thought", weight)
    subject = [one for topic in topics(moment.words) if (one := fill("{topic}", {"topic": topic}, grounds))]
    return Report(moment, f"thought of {listed(subject)}" if subject else "", "thought", 2 if subject else 1)


def _meant(sentence: str, about: str, scene: Scene) -> str:
    """The sentence with its subject `he` or `she` named, when it is clear who is meant."""
    match = _THIRD.match(sentence)
    if match is None or not about:
        return sentence
    gender = scene.cast.person(about).gender
    if gender != "they" and gender != match["pronoun"].lower():
        return sentence
    return f"{about}{sentence[match.end() :]}"


def _told(said: list[str], grounds: Grounds) -> str:
    """The thought in reported speech: its weightiest sentence, and a second when there is room."""
    for sentence in said:
        for _, pattern, telling in _rules():
            match = pattern.search(opened(sentence))
            if match:
                parts = {name: value or "" for name, value in match.groupdict().items()} | {"all": opened(sentence)}
                told = fill(telling, parts, grounds)
                if told:
                    return told
    clauses = [(sentence, clause(sentence, grounds)) for sentence in said if not sentence.endswith("?")]
    usable = [(sentence, told) for sentence, told in clauses if told]
    for sentence in said:
        fragment = opened(sentence)
        whole = len(fragment.split()) >= _FRAGMENT and not re.search(r"[.!?] ", fragment)
        if not usable and whole and not sentence.endswith("?") and not is_imperative(fragment):
            thing = fill("{topic}", {"topic": fragment[:1].lower() + fragment[1:]}, grounds)
            if thing:
                return f"thought of {thing}"
    if usable and not any(topics(sentence) or bonus(sentence) or re.match(r"P\d", told) for sentence, told in usable):
        about = [one for topic in topics(" ".join(said)) if (one := fill("{topic}", {"topic": topic}, grounds))]
        if about:
            return f"thought of {listed(about)}"
    if usable:
        best = max(usable, key=lambda one: (bonus(one[0]) + min(6, len(one[1].split())) / 3, -usable.index(one)))
        joined = [told for _, told in usable if len(usable) > 1]
        if len(joined) == 2 and len(" ".join(joined).split()) <= _LONGEST:
            return "thought that " + ", and that ".join(joined)
        return f"thought that {best[1]}"
    asked = next((told for sentence in said if sentence.endswith("?") and (told := indirect(sentence, grounds))), "")
    return f"wondered {asked}" if asked else ""
