"""A statement held against what else is known by a model, where no rule is sure (task `validate`)."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from engine.errors import ModelError
from engine.events import Listener
from engine.llm.fitting import fitted, shorter
from engine.llm.protocol import LanguageModel, ModelRequest
from engine.llm.router import Router
from engine.llm.structured import ask
from engine.llm.tallying import Tally
from engine.mind.handles import Handles
from engine.prompts.closing import validate_reply
from engine.prompts.validating import build
from engine.records.knowledge import Knowledge, KnowledgeId
from engine.records.prompts import Prompt
from engine.records.world import World

_SURE: Final = 0.5
"""Confidence of a verdict below which it decides nothing."""

Verdict = Literal["supported", "contradicted", "unrelated"]


class Judgement(NamedTuple):
    """What a model makes of a statement beside others."""

    verdict: Verdict
    against: tuple[KnowledgeId, ...]
    """Which of the others decide; empty when nothing does, and then the verdict is `unrelated`."""
    reason: str
    tokens: int
    """Of prompts and replies."""


class Checker:
    """Asks the model that is routed for `validate`, on behalf of the statement's owner."""

    def __init__(self, router: Router, emit: Listener) -> None:
        self._router, self._emit = router, emit

    async def judge(self, world: World, statement: Knowledge, others: Sequence[Knowledge]) -> Judgement:
        """Whether a statement can stand beside others, nearest first: those that do not fit into the model's window are left out.

        Raises `ModelError`, `CapReachedError`.
        """
        model = Tally(self._router.model("validate"))
        return await fitted(
            model, lambda: self._judged(model, world, statement, others), lambda: self._emit(shorter("validate", model))
        )

    async def _judged(self, model: Tally, world: World, statement: Knowledge, others: Sequence[Knowledge]) -> Judgement:
        told, prompt, handles = _fitting(model, world, statement, others)
        closed = validate_reply(handles, model.count_tokens, prompt.report.reserved)
        request = ModelRequest(
            task="validate", entity=statement.owner_id, round=world.round, seed=world.seed, template=prompt.template,
            messages=prompt.messages, choices=closed.choices, max_tokens=closed.max_tokens,
        )
        reply, _ = await ask(model, request, closed.shape)
        known = {one.id for one in told}
        named = [key for handle in reply.against if (key := handles.id(handle, "K")) in known and key is not None]
        against = tuple(dict.fromkeys(named)) or (tuple(known) if len(known) == 1 else ())
        if reply.verdict == "unrelated" or reply.confidence < _SURE or not against:
            return Judgement("unrelated", (), reply.reason, model.tokens)
        return Judgement(reply.verdict, against, reply.reason, model.tokens)


def _fitting(
    model: LanguageModel, world: World, statement: Knowledge, others: Sequence[Knowledge]
) -> tuple[Sequence[Knowledge], Prompt, Handles]:
    """As many of the others, nearest first, as fit the model's window. Raises `ModelError` when not even one does."""
    for size in range(len(others), 0, -1):
        prompt, handles = build(
            world, statement, others[:size], world.now, count_tokens=model.count_tokens, context_window=model.context_window
        )
        if prompt.report.tokens + prompt.report.reserved <= model.context_window:
            return others[:size], prompt, handles
    raise ModelError(
        f"A statement and what it is held against are too long for the window of {model.name} ({model.context_window} tokens).",
        "Route the task validate to a model with a larger window.",
    )
