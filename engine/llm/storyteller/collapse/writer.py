"""The reply to a collapse: what is left of a session, as far as its turns plainly say."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.claims.complement import HANDLE
from engine.llm.storyteller.collapse.decisions import Decision, decisions_of, means
from engine.llm.storyteller.collapse.ending import goal_of, outcome_of
from engine.llm.storyteller.collapse.facts import Fact, facts_of, together, with_known_keys
from engine.llm.storyteller.collapse.heard import Heard, heard
from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.collapse.steps import Step, steps_of
from engine.llm.storyteller.collapse.strategies import Strategy, strategy_of
from engine.llm.storyteller.collapse.talk import Talk, read_talk
from engine.records.wire import CollapsedDecision, CollapsedFact, CollapsedStrategy, CollapseReply

T = TypeVar("T")

_MOST: Final[Mapping[str, int]] = {
    "facts": 12, "decisions": 6, "strategies": 3, "discoveries": 3, "nextSteps": 4, "relevantEntities": 8,
}  # fmt: skip
"""Items of each list. More than a small model is let write under a grammar: nobody counts a rule's tokens."""
_COMPARED: Final = 300
"""Facts of one talk that are held against each other: more than a session has room for, unless somebody means it ill."""
_LEAST_WORDS: Final = 2
_LONGEST_DISCOVERY: Final = 160
_HANDLES = re.compile(r"(?<![\w'])P\d+")


def sum_up(request: ModelRequest) -> str:
    """The reply to task `collapse` as JSON. It depends on the prompt alone: what was said does not change by asking again."""
    talk = read_talk(request.messages[-1].content)
    return _summary(talk, heard(talk)).model_dump_json()


def _summary(talk: Talk, sentences: Sequence[Heard]) -> CollapseReply:
    advised = [strategy_of(one) for one in sentences]
    strategies = [one for one in advised if one is not None]
    telling = [one for one, found in zip(sentences, advised, strict=True) if found is None]
    decisions = decisions_of(telling, talk)
    steps = [step for step in steps_of(telling, talk) if not any(_one_deed(step, one) for one in decisions)]
    facts = with_known_keys(together(_weightiest(_facts(telling, decisions, steps, talk), _COMPARED)), talk)
    discoveries = _discoveries(telling)
    reply = CollapseReply(
        outcome=outcome_of(sentences, decisions, steps, talk),
        relevantEntities=[],
        goal=goal_of(sentences, facts, decisions, steps, talk),
        facts=[_fact(one) for one in _weightiest(facts, _MOST["facts"])] if "facts" in talk.wanted else [],
        decisions=[_decision(one) for one in _standing(decisions, _MOST["decisions"])] if "decisions" in talk.wanted else [],
        strategies=[_strategy(one) for one in _last(strategies, _MOST["strategies"])] if "strategies" in talk.wanted else [],
        discoveries=_last(discoveries, _MOST["discoveries"]),
        nextSteps=[one.content for one in _nearest(steps, talk, _MOST["nextSteps"])] if "nextSteps" in talk.wanted else [],
    )
    return reply.model_copy(update={"relevantEntities": _concerned(reply, talk, _MOST["relevantEntities"])})


def _facts(sentences: Sequence[Heard], decisions: Sequence[Decision], steps: Sequence[Step], talk: Talk) -> list[Fact]:
    """All facts in order, without what is told as a decision or as a step, and without what the one whose memory it is tells of itself."""
    told = {claim for one in decisions for claim in one.claims} | {claim for one in steps for claim in one.claims}
    found = (fact for one in sentences if not means(one) for fact in facts_of(one, talk) if not set(fact.claims) & told)
    own = {one.turn.handle for one in sentences if one.turn.who == talk.agent}
    # one knows of oneself what one says
    return [fact for fact in found if fact.about != talk.agent or not set(fact.turns) <= own]


def _one_deed(step: Step, decision: Decision) -> bool:
    return bool(set(step.claims) & set(decision.claims))


def _discoveries(sentences: Sequence[Heard]) -> list[str]:
    """What somebody tells of having found out."""
    told = (one.told for one in sentences if one.told and not one.turn.note and pattern("found").match(one.said))
    fitting = (text for text in told if len(text.split()) > _LEAST_WORDS and len(text) < _LONGEST_DISCOVERY)
    return list(dict.fromkeys(f"{text[:1].upper()}{text[1:]}." for text in fitting))


def _weightiest(facts: Sequence[Fact], most: int) -> list[Fact]:
    """The facts that matter most, in order of time; what holds no longer gives way first."""
    ranked = sorted(range(len(facts)), key=lambda at: (facts[at].replaced, -facts[at].importance, -facts[at].confidence, -at))
    return [facts[at] for at in sorted(ranked[:most])]


def _standing(decisions: Sequence[Decision], most: int) -> list[Decision]:
    """The newest decisions, in order of time; those that were replaced give way first."""
    ranked = sorted(range(len(decisions)), key=lambda at: (decisions[at].replaced, -at))
    return [decisions[at] for at in sorted(ranked[:most])]


def _nearest(steps: Sequence[Step], talk: Talk, most: int) -> list[Step]:
    """Steps of the one whose memory it is first, then the newest, in order of time."""
    ranked = sorted(range(len(steps)), key=lambda at: (talk.agent not in HANDLE.findall(steps[at].who), -at))
    return [steps[at] for at in sorted(ranked[:most])]


def _last(items: Sequence[T], most: int) -> list[T]:
    return list(items[-most:]) if most else []


def _fact(one: Fact) -> CollapsedFact:
    return CollapsedFact(
        sourceTurnIds=list(one.turns), about=one.about, topicKey=one.key, confidence=one.confidence, importance=one.importance,
        sensitive=one.sensitive, content=one.content,
    )  # fmt: skip


def _decision(one: Decision) -> CollapsedDecision:
    rationale = f"{one.rationale[:1].upper()}{one.rationale[1:]}." if one.rationale else ""
    return CollapsedDecision(
        sourceTurnIds=list(one.turns), supersedes=one.supersedes, topicKey=one.key, rationale=rationale, content=one.content
    )


def _strategy(one: Strategy) -> CollapsedStrategy:
    return CollapsedStrategy(sourceTurnIds=[one.turn], trigger=one.trigger, action=one.action)


def _concerned(reply: CollapseReply, talk: Talk, most: int) -> list[str]:
    """Whom it was about, most often named first: the other always, the one whose memory it is never."""
    texts = [
        *(f"{one.about} {one.content}" for one in reply.facts), *(one.content for one in reply.decisions), *reply.nextSteps,
        *reply.discoveries, *(f"{one.trigger} {one.action}" for one in reply.strategies), reply.goal,
    ]  # fmt: skip
    named = [handle for text in texts for handle in _HANDLES.findall(text)]
    counts = {handle: named.count(handle) for handle in dict.fromkeys([talk.other, *named]) if handle != talk.agent}
    return sorted(counts, key=lambda handle: -counts[handle])[:most]
