"""What of a collapse's reply can be believed: checks of meaning that no schema can make, and handles turned into ids (DESIGN 9). Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from engine.memory.sessions.classify import matter
from engine.memory.sessions.guard import orders
from engine.mind.aliases import own_words, tokenize, vocabulary
from engine.mind.handles import Handles
from engine.prompts.collapse import Extract, extracted
from engine.records.base import EntityId
from engine.records.clean import clean, one_line
from engine.records.knowledge import Knowledge, KnowledgeKind, NewKnowledge
from engine.records.sessions import (
    CollapseReason,
    ExtractedDecision,
    ExtractedFact,
    ExtractedStrategy,
    Session,
    SessionCollapseSummary,
    Turn,
)
from engine.records.tokens import bare, referred
from engine.records.wire import CollapsedDecision, CollapsedFact, CollapsedStrategy, CollapseReply
from engine.records.world import World

_T = TypeVar("_T")

_LONGEST: Final = 400
"""Characters of a statement, before handles become tokens."""
_DECIDED: Final = 0.8
_LEARNED: Final = 0.7
"""Confidence of decisions and strategies, of which a model gives none: promotion's own threshold and a little above."""
_NOBODYS: Final = re.compile(r"(?<![\w{])[PMKL]\d+(?!\w)")
_TOPIC: Final = re.compile(r"[^\W_]+")


class Extraction(NamedTuple):
    """What a reply comes to."""

    summary: SessionCollapseSummary
    news: tuple[NewKnowledge, ...]
    cut: tuple[str, ...]
    """Orders that came back in the reply: they become nothing."""
    notes: tuple[str, ...]
    """What was left out and why, for people."""


class Source(NamedTuple):
    """What a reply is held against: everything that its prompt was made of."""

    world: World
    session: Session
    turns: Sequence[Turn]
    known: Sequence[Knowledge]
    handles: Handles


def extract(reply: CollapseReply, source: Source, reason: CollapseReason, pins: int, tokens: int, processed: int) -> Extraction:
    """The statements of a reply that stand up, as they would be known, and the summary of it all.

    A statement that no cited turn bears out, or that tells the agent of itself what it said itself, is left out. `processed` counts the
    turns that went into it, with those that were cut; `tokens` are the model's.
    """
    return _Extracting(source).done(reply, reason, pins, tokens, processed)


class _Extracting:
    def __init__(self, source: Source) -> None:
        self.session, self.handles = source.session, source.handles
        self._turns = {turn.id: turn for turn in source.turns}
        self._known = {row.id: row for row in source.known}
        owner = source.session.agent_id
        self._names = vocabulary(source.world, owner, source.world.entities[owner].aliases) | own_words(source.world, owner)
        self._wanted = extracted(source.session.policy)
        self.cut: list[str] = []
        self.notes: list[str] = []

    def done(self, reply: CollapseReply, reason: CollapseReason, pins: int, tokens: int, processed: int) -> Extraction:
        facts = [new for number, fact in self._listed("facts", reply.facts) if (new := self._fact(number, fact))]
        decisions = [new for number, one in self._listed("decisions", reply.decisions) if (new := self._decision(number, one))]
        strategies = [told for number, way in self._listed("strategies", reply.strategies) if (told := self._strategy(number, way))]
        news = (*facts, *decisions, *(new for new, _ in strategies))
        summary = SessionCollapseSummary(
            goal=self._safe(reply.goal) or "to talk", outcome=reply.outcome,
            facts=tuple(ExtractedFact(content=n.content, confidence=n.confidence, topic_key=n.topic_key or None) for n in facts),
            decisions=tuple(
                ExtractedDecision(content=n.content, rationale=n.rationale, supersedes=self._worded(n.supersedes)) for n in decisions
            ),
            strategies=tuple(told for _, told in strategies),
            discoveries=tuple(filter(None, map(self._safe, reply.discoveries))),
            next_steps=tuple(filter(None, map(self._safe, reply.nextSteps))) if "nextSteps" in self._wanted else (),
            relevant_entities=self._people(reply.relevantEntities, news),
            turns_processed=processed, pins_used=pins, llm_tokens_used=tokens, collapse_reason=reason,
        )
        return Extraction(summary, news, tuple(self.cut), tuple(self.notes))

    def _listed(self, name: Extract, items: Sequence[_T]) -> Iterable[tuple[int, _T]]:
        if items and name not in self._wanted:
            self.notes.append(f"{len(items)} {name} were not asked for")
            return ()
        return enumerate(items, 1)

    def _fact(self, number: int, fact: CollapsedFact) -> NewKnowledge | None:
        what = f"fact {number}"
        content, turns = self._text(fact.content), self._sources(fact.sourceTurnIds)
        if not self._stands(what, content, turns):
            return None
        subject = self._subject(fact.about, content)
        own = {turn.speaker_id for turn in turns} == {self.session.agent_id}
        if own and subject == self.session.agent_id:
            self.notes.append(f"{what} left out: one knows of oneself what one says")
            return None
        new = self._new("fact", content, turns, fact.topicKey)
        return new.model_copy(
            update={
                "subject_id": subject, "confidence": round(fact.confidence, 3), "importance": min(10, max(1, fact.importance)),
                "sensitivity": "sensitive" if fact.sensitive else "plain",
            }
        )

    def _subject(self, about: str, content: str) -> EntityId | None:
        """Whom a fact is about: as the reply says, unless its words speak of others only; then of whom they speak first."""
        said, spoken_of = self.handles.id(about, "P"), referred(content)
        return said if said in spoken_of or not spoken_of else spoken_of[0]

    def _decision(self, number: int, one: CollapsedDecision) -> NewKnowledge | None:
        content, turns = self._text(one.content), self._sources(one.sourceTurnIds)
        if not self._stands(f"decision {number}", content, turns):
            return None
        over = self.handles.id(one.supersedes, "K")
        new = self._new("decision", content, turns, one.topicKey)
        subject = next(iter(referred(content)), self.session.actor_id)
        update = {"rationale": self._safe(one.rationale), "confidence": _DECIDED, "subject_id": subject, "importance": 6}
        return new.model_copy(update={**update, "supersedes": over if over in self._known else None})

    def _strategy(self, number: int, one: CollapsedStrategy) -> tuple[NewKnowledge, ExtractedStrategy] | None:
        trigger, action, context = self._text(one.trigger), self._text(one.action), self._safe(one.context)
        turns = self._sources(one.sourceTurnIds)
        if not trigger or not action or not self._stands(f"strategy {number}", f"{trigger} {action}", turns):
            return None
        new = self._new("strategy", f"{trigger.rstrip('.')}: {action}", turns, "")
        new = new.model_copy(update={"rationale": context, "confidence": _LEARNED, "subject_id": None})
        return new, ExtractedStrategy(trigger=trigger, action=action, context=context)

    def _new(self, kind: KnowledgeKind, content: str, turns: Sequence[Turn], topic: str) -> NewKnowledge:
        agent = self.session.agent_id
        return NewKnowledge(
            owner_id=agent, kind=kind, content=content, topic_key="_".join(_TOPIC.findall(clean(topic).lower()))[:40], scope="entity",
            scope_id=agent, confidence=_LEARNED, session_id=self.session.id, turn_ids=tuple(turn.id for turn in turns),
            valid_from=max(turn.timestamp for turn in turns),
        )

    def _stands(self, what: str, content: str, turns: Sequence[Turn]) -> bool:
        """Whether a statement can be kept: it says something, gives no orders, and a turn bears it out."""
        if not content:
            return False
        if orders(content):
            self.cut.append(content)
            return False
        if _NOBODYS.search(content):
            self.notes.append(f"{what} left out: it names a handle that nobody has")
            return False
        said = frozenset(stem for turn in turns for stem in matter(bare(turn.content)))
        if not matter(bare(content)) & said:
            self.notes.append(f"{what} left out: no turn bears it out")
            return False
        return True

    def _sources(self, handles: Sequence[str]) -> list[Turn]:
        """The turns that a statement cites, in order; all of them when it cites none of this session's."""
        cited = {found for handle in handles if (found := self.handles.id(handle, "M")) in self._turns}
        return [turn for key, turn in self._turns.items() if not cited or key in cited]

    def _text(self, text: str) -> str:
        """A text of the reply on one line, with reference tokens for people."""
        plain = one_line(clean(text))[:_LONGEST].replace("{{", "{")
        return tokenize(self.handles.tokens(plain), self._names).strip()

    def _safe(self, text: str) -> str:
        """The same of a text that needs no turn to bear it out; empty when it gives orders."""
        plain = self._text(text)
        if not orders(plain):
            return plain
        self.cut.append(plain)
        return ""

    def _worded(self, key: str | None) -> str | None:
        return self._known[key].content if key in self._known else None

    def _people(self, handles: Sequence[str], news: Sequence[NewKnowledge]) -> tuple[EntityId, ...]:
        named = (found for handle in handles if (found := self.handles.id(handle, "P")))
        told = (entity for new in news for entity in referred(new.content))
        return tuple(dict.fromkeys([*named, *told]))
