"""What an agent is asked, and what it answers."""

import re
from collections.abc import Callable, Iterable

from engine.errors import ModelError
from engine.llm.fitting import fitted
from engine.llm.protocol import Heard, LanguageModel, ModelRequest
from engine.llm.router import Router
from engine.memory.recall.engine import RecallEngine
from engine.prompts.actor import ANSWER_TOKENS, Room, build
from engine.prompts.scene import Scene, told_of
from engine.records.base import EntityId
from engine.records.clean import clean
from engine.records.knowledge import Knowledge
from engine.records.policies import Policies
from engine.records.prompts import Prompt
from engine.records.world import World
from engine.storage.store import Store

_SENTENCE_END = re.compile(r"[.!?\u2026][\"\u201d\u2019\u00bb*)\]]*(?=\s|$)")


class Actor:
    """Drafts prompts and has them answered. Drafting changes nothing, so that a preview is the prompt itself."""

    def __init__(self, store: Store, router: Router, recall: RecallEngine, policies: Policies) -> None:
        self._store, self._router, self._recall, self._policy = store, router, recall, policies.recall

    async def draft(self, world: World, entity: EntityId, *, explained: bool = True) -> Prompt:
        """The prompt that `entity` gets at this moment, byte for byte. Without `explained` its report says nothing of how memories were
        ranked: that is for eyes, and a beat's prompt is seen by a model only."""
        model = self._router.model("actor")
        store = self._store
        entries, pursued = await store.db.read(
            lambda conn: (store.buffer.of_owner(conn, entity), store.sessions.pursuits(conn, entity))
        )
        share = int(model.context_window * self._policy.share)
        recalled = await self._recall.recall(
            world, entity, entries, world.now, budget=share, count_tokens=model.count_tokens, explained=explained
        )
        known = [*told_of(Scene(world, entity)), *recalled.known]
        room = Room(model.context_window, model.count_tokens)
        return build(world, entity, entries, recalled, known, room, self._policy, pursued)

    def renew(self, rows: Iterable[Knowledge]) -> None:
        """Knowledge has been noted as used."""
        self._recall.renew_knowledge(rows)

    @property
    def model(self) -> LanguageModel:
        """Who answers now."""
        return self._router.model("actor")

    async def act(self, world: World, entity: EntityId, heard: Heard, smaller: Callable[[], None] = lambda: None) -> tuple[Prompt, str]:
        """Draft and answer: the prompt that was sent in the end, and the prose. One that proves too long for the model is drafted anew,
        smaller; `smaller` is told. Raises `ModelError`, `CapReachedError`."""

        async def attempt() -> tuple[Prompt, str]:
            prompt = await self.draft(world, entity, explained=False)
            return prompt, await self.answer(world, prompt, heard)

        return await fitted(self._router.model("actor"), attempt, smaller)

    async def answer(self, world: World, prompt: Prompt, heard: Heard) -> str:
        """The prose, cleaned; `heard` gets each piece as it comes. Raises `ModelError`, for a blank answer too."""
        request = ModelRequest(
            task="actor", entity=prompt.entity, round=world.round, seed=world.seed, template=prompt.template, messages=prompt.messages,
            max_tokens=ANSWER_TOKENS,
        )
        completion = await self._router.model("actor").complete(request, lambda piece: heard(piece if piece is None else clean(piece)))
        prose = clean(completion.text).strip()
        if completion.cut:
            prose = _whole_sentences(prose)
        if not prose:
            raise ModelError("The model answered with nothing.", "Try again, or choose another model for the task actor.")
        return prose


def _whole_sentences(prose: str) -> str:
    """The sentences of a text that breaks off; nothing when not even the first one ends, or one of its quotations does not."""
    ends = [found.end() for found in _SENTENCE_END.finditer(prose)]
    return next((prose[:end] for end in reversed(ends) if prose[:end].count('"') % 2 == 0 and prose[:end].count("*") % 2 == 0), "")
