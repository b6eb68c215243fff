"""From a session to what is left of it: assessed, classified, asked, guarded and settled, with nothing written (DESIGN 9)."""

import asyncio
import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from engine.errors import BadOutputError, CapReachedError, ModelError, OthermindsError, SaveError
from engine.events import CollapseStep, Listener
from engine.llm.fitting import fitted, shorter
from engine.llm.protocol import Embedder, LanguageModel, ModelRequest
from engine.llm.router import Router
from engine.llm.structured import ask
from engine.llm.tallying import Tally
from engine.memory.embedding import TextVectors, Vectors, from_bytes
from engine.memory.knowledge.engine import KnowledgeEngine, Settlement
from engine.memory.sessions.classify import present, telling
from engine.memory.sessions.extracting import Extraction, Source, extract
from engine.memory.sessions.gate import assess
from engine.memory.sessions.guard import Guarded, guarded
from engine.memory.sessions.triggers import older_part
from engine.memory.text import bare
from engine.mind.handles import Handles
from engine.prompts.closing import collapse_reply
from engine.prompts.collapse import build, extracted
from engine.records.clean import clean
from engine.records.knowledge import Knowledge
from engine.records.prompts import Prompt
from engine.records.sessions import (
    CollapseForecast,
    CollapseReason,
    CollapseReport,
    CollapseRun,
    CollapseStage,
    GateReport,
    Session,
    SessionCollapseSummary,
    Turn,
)
from engine.records.wire import CollapseReply
from engine.records.world import World
from engine.storage.knowledge_queries import put_together
from engine.storage.rows import Row
from engine.storage.store import Store

_MOST_KNOWN: Final = 12
"""Pieces of knowledge that stand beside the turns in a prompt."""


class Collapse(NamedTuple):
    """What a collapse would do. `committing.commit` does it, between two rounds."""

    session: Session
    """As it was read."""
    turns: tuple[Turn, ...]
    """All that go, those that were cut among them."""
    run: CollapseRun
    """As it would be kept, without a key."""
    settlement: Settlement = Settlement()

    @property
    def tokens(self) -> int:
        """That models took for it."""
        return self.run.summary.llm_tokens_used if self.run.summary else 0

    def after(self, tokens: int) -> "Collapse":
        """The same, drafted anew after drafts that took so many tokens and came to nothing."""
        if self.run.summary is None or not tokens:
            return self
        summary = self.run.summary.model_copy(update={"llm_tokens_used": self.tokens + tokens})
        return self._replace(run=self.run.model_copy(update={"summary": summary}))


class _Read(NamedTuple):
    session: Session
    turns: tuple[Turn, ...]
    known: tuple[Knowledge, ...]
    vectors: dict[str, Vectors]


class Collapser:
    """Drafts collapses, beside play. Writes nothing: no transaction is open while a model is asked."""

    def __init__(self, store: Store, router: Router, embedder: Embedder, knowledge: KnowledgeEngine, emit: Listener) -> None:
        self._store, self._router, self._embedder, self._knowledge, self._emit = store, router, embedder, knowledge, emit

    async def propose(self, world: World, session: Session, report: CollapseReport) -> Collapse:
        """What is left of a session that is to be collapsed for the reason of `report`.

        When the model, its reply or the embedder fails, the run says so and nothing else. Raises `CapReachedError`, `SaveError`.
        """
        read = await self._read(world, session, partial_=report.partial)
        draft = _Draft(self._base(world, read, report))
        try:
            return await self._drafted(world, read, draft)
        except (CapReachedError, SaveError):
            raise
        except OthermindsError as error:
            if isinstance(error, BadOutputError):
                draft.note(reply=clean(error.reply))
            draft.note(status="failed", error=str(error))
            return Collapse(read.session, read.turns, draft.run)

    async def foretold(self, world: World, session: Session) -> CollapseForecast:
        """What a collapse at somebody's word would come to now: whether a model is asked and why, and how long its prompt is. The replies
        that follow on what is contradicted are not reckoned. Raises `ModelError`, `SaveError`."""
        read = await self._read(world, session, partial_=False)
        safe = await asyncio.to_thread(guarded, read.turns)
        gate, near = await self._assessed(read, safe, "explicit")
        cut = len(safe.cut)
        if not gate.asked:
            return CollapseForecast(gate=gate, cut=cut)
        model = Tally(self._router.model("collapse"))
        made = _fitting(model, world, read.session, safe.turns, near)
        report = made.prompt.report
        return CollapseForecast(
            gate=gate, cut=cut, model=model.name, prompt_tokens=report.tokens, reply_tokens=report.reserved,
            left_out=len(safe.turns) - len(made.turns),
        )

    async def _assessed(self, read: _Read, safe: Guarded, reason: CollapseReason) -> tuple[GateReport, list[Knowledge]]:
        near = await self._near(read, safe.turns)
        vectors = [read.vectors[row.id] for row in near if row.id in read.vectors]
        return await assess(self._embedder, read.session.policy, safe.turns, vectors, reason), near

    def _at(self, read: _Read, step: CollapseStage, note: str = "") -> None:
        self._emit(CollapseStep(session_id=read.session.id, step=step, note=note))

    async def _drafted(self, world: World, read: _Read, draft: "_Draft") -> Collapse:
        self._at(read, "guard")
        safe = await asyncio.to_thread(guarded, read.turns)
        draft.note(cut=safe.cut)
        self._at(read, "assess", f"{len(safe.cut)} turns were cut: they gave orders" if safe.cut else "")
        gate, near = await self._assessed(read, safe, draft.run.reason)
        draft.note(gate=gate)
        if not gate.asked:
            draft.note(status="skipped", summary=_unasked(read, draft.run))
            self._at(read, "write", gate.reason)
            return Collapse(read.session, read.turns, draft.run)
        self._at(read, "extract", gate.reason)
        extraction = await self._asked(world, read, safe, near, draft)
        draft.note(summary=extraction.summary, cut=(*safe.cut, *extraction.cut), notes=(*draft.run.notes, *extraction.notes))
        self._at(read, "settle", f"{len(extraction.news)} statements stand up")
        settlement = await self._knowledge.settle(world, extraction.news)
        self._at(read, "write")
        tokens = extraction.summary.llm_tokens_used + settlement.tokens
        summary = extraction.summary.model_copy(update={"llm_tokens_used": tokens})
        draft.note(summary=summary, notes=(*draft.run.notes, *settlement.notes))
        return Collapse(read.session, read.turns, draft.run, settlement)

    async def _asked(self, world: World, read: _Read, safe: Guarded, near: Sequence[Knowledge], draft: "_Draft") -> Extraction:
        """One structured call over the turns; their kinds of knowledge decide which lists are asked for."""
        model = Tally(self._router.model("collapse"))
        made = await fitted(
            model, lambda: self._call(model, world, read, safe.turns, near, draft), lambda: self._emit(shorter("collapse", model))
        )
        pins = sum(turn.pinned for turn in safe.turns)
        return extract(made.reply, made.source, draft.run.reason, pins, model.tokens, len(read.turns))

    async def _call(
        self, model: LanguageModel, world: World, read: _Read, turns: Sequence[Turn], near: Sequence[Knowledge], draft: "_Draft"
    ) -> "_Made":
        session, told, known, prompt, handles = _fitting(model, world, read.session, turns, near)
        draft.note(prompt=prompt.text, model=model.name, template=prompt.template)
        if len(told) < len(turns):
            draft.note(notes=(f"{len(turns) - len(told)} turns were left out: there was no room for them",))
        wanted = extracted(session.policy)
        closed = collapse_reply(handles, wanted, model.count_tokens, prompt.report.reserved)
        request = ModelRequest(
            task="collapse", entity=session.agent_id, round=world.round, seed=world.seed, template=prompt.template,
            messages=prompt.messages, choices=closed.choices, max_tokens=closed.max_tokens,
        )
        reply, completion = await ask(model, request, closed.shape)
        draft.note(reply=clean(completion.text), model=completion.model)
        return _Made(reply, Source(world, session, told, known, handles))

    def _base(self, world: World, read: _Read, report: CollapseReport) -> CollapseRun:
        assert report.reason is not None
        at = read.session.last_turn_at
        return CollapseRun(
            id="", session_id=read.session.id, agent_id=read.session.agent_id, part=read.session.parts, partial=report.partial,
            reason=report.reason, round=world.round, timestamp=at, status="committed",
            gate=GateReport(asked=False, reason="not assessed", turns=len(read.turns)),
        )

    async def _read(self, world: World, session: Session, *, partial_: bool) -> _Read:
        """A session and what its agent knows. Rows are put together off the database's thread: beats wait for that."""
        agent = world.entities[session.agent_id]

        def rows(conn: sqlite3.Connection) -> tuple[Session, Sequence[Turn], list[Row]]:
            now = self._store.sessions.get(conn, session.id) or session
            return now, self._store.sessions.turns(conn, session.id), self._store.knowledge.rows_held_by(conn, agent.id, agent.factions)

        now, turns, held = await self._store.db.read(rows)
        known = tuple(row for row in await asyncio.to_thread(put_together, held) if row.holds)
        find = partial(self._store.embeddings.of_knowledge, keys=[row.id for row in known], model=self._embedder.name)
        vectors = {key: from_bytes(blob) for key, blob in (await self._store.db.read(find)).items()}
        return _Read(now, older_part(turns) if partial_ else tuple(turns), known, vectors)

    async def _near(self, read: _Read, turns: Sequence[Turn]) -> list[Knowledge]:
        """What the agent knows that is nearest to what was said, nearest first. Raises `ModelError`."""
        found = telling(turns)
        held = [row for row in read.known if row.id in read.vectors]
        if not found or not held:
            return list(read.known[-_MOST_KNOWN:])
        said = await TextVectors(self._embedder).of([bare(one.turn.content) for one in found])
        nearness = {row.id: float((said @ read.vectors[row.id]).max()) for row in held}
        return sorted(held, key=lambda row: (-nearness[row.id], row.seq))[:_MOST_KNOWN]


class _Draft:
    """The run as far as it has come: what a failed one leaves for the record."""

    def __init__(self, run: CollapseRun) -> None:
        self.run = run

    def note(self, **fields: object) -> None:
        """Add to it."""
        self.run = self.run.model_copy(update=fields)


class _Made(NamedTuple):
    """A reply with what it is held against."""

    reply: CollapseReply
    source: Source


def _unasked(read: _Read, run: CollapseRun) -> SessionCollapseSummary:
    """The summary of a session of which no model was asked: it says why."""
    pins = sum(turn.pinned for turn in read.turns)
    return SessionCollapseSummary(
        goal=f"nothing was taken from it: {run.gate.reason}", outcome="abandoned", relevant_entities=(read.session.actor_id,),
        next_steps=read.session.tasks, turns_processed=len(read.turns), pins_used=pins, llm_tokens_used=0, collapse_reason=run.reason,
    )


class _Fitted(NamedTuple):
    """What one call is about."""

    session: Session
    turns: tuple[Turn, ...]
    known: tuple[Knowledge, ...]
    prompt: Prompt
    handles: Handles


def _fitting(model: LanguageModel, world: World, session: Session, turns: Sequence[Turn], known: Sequence[Knowledge]) -> _Fitted:
    """As much as fits the model's window: what was known before goes first, then turns that tell nothing, then the oldest without a pin.

    Only those kinds are asked for that the turns may hold. Raises `ModelError` when not even one turn fits.
    """
    found = telling(turns)
    session = _classified(session, present(found))
    says = {one.turn.id for one in found}
    by_worth = sorted(turns, key=lambda turn: (turn.pinned, turn.id in says, turn.seq), reverse=True)
    for facts in (len(known), 4, 0):
        for share in (1.0, 0.75, 0.5, 0.25, 0.1, 0.0):
            if share < 1.0 and facts:
                continue
            kept = {turn.id for turn in by_worth[: max(1, round(share * len(by_worth)))]}
            told = tuple(turn for turn in turns if turn.id in kept)
            prompt, handles = build(
                world, session, told, known[:facts], world.now, count_tokens=model.count_tokens, context_window=model.context_window
            )
            if prompt.report.tokens + prompt.report.reserved <= model.context_window:
                return _Fitted(session, told, tuple(known[:facts]), prompt, handles)
    raise ModelError(
        f"A turn is too long for the window of {model.name} ({model.context_window} tokens).",
        "Route the task collapse to a model with a larger window.",
    )


def _classified(session: Session, kinds: frozenset[str]) -> Session:
    """The session with a policy that asks only for what its turns may hold; for all when rules see nothing, as in a pinned remark."""
    if not kinds:
        return session
    policy = session.policy
    changed = policy.model_copy(
        update={
            "extract_facts": policy.extract_facts and "facts" in kinds,
            "extract_decisions": policy.extract_decisions and "decisions" in kinds,
            "extract_strategies": policy.extract_strategies and "strategies" in kinds,
            "extract_tasks": policy.extract_tasks and ("nextSteps" in kinds or "decisions" in kinds),
        }
    )  # fmt: skip
    return session.model_copy(update={"policy": changed})
