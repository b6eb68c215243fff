"""What an agent is asked, and what it answers."""

from engine.errors import ModelError
from engine.llm.protocol import Heard, ModelRequest
from engine.llm.router import Router
from engine.memory.recall.engine import RecallEngine
from engine.prompts.actor import ANSWER_TOKENS, Room, build
from engine.prompts.scene import Scene, told_of
from engine.records.base import EntityId
from engine.records.clean import clean
from engine.records.policies import Policies
from engine.records.prompts import Prompt
from engine.records.world import World
from engine.storage.store import Store


class Actor:
    """Drafts prompts and has them answered. Drafting changes nothing, so that a preview is the prompt itself."""

    def __init__(self, store: Store, router: Router, recall: RecallEngine, policies: Policies) -> None:
        self._store, self._router, self._recall, self._policy = store, router, recall, policies.recall

    async def draft(self, world: World, entity: EntityId, *, explained: bool = True) -> Prompt:
        """The prompt that `entity` gets at this moment, byte for byte. Without `explained` its report says nothing of how memories were
        ranked: that is for eyes, and a beat's prompt is seen by a model only."""
        model = self._router.model("actor")
        entries = await self._store.db.read(lambda conn: self._store.buffer.of_owner(conn, entity))
        share = int(model.context_window * self._policy.share)
        recalled = await self._recall.recall(
            world, entity, entries, world.now, budget=share, count_tokens=model.count_tokens, explained=explained
        )
        known = [*told_of(Scene(world, entity)), *recalled.known]
        return build(world, entity, entries, recalled, known, Room(model.context_window, model.count_tokens), self._policy)

    async def answer(self, world: World, prompt: Prompt, heard: Heard) -> str:
        """The prose, cleaned; `heard` gets each piece as it comes. Raises `ModelError`, for a blank answer too."""
        request = ModelRequest(
            task="actor", entity=prompt.entity, round=world.round, seed=world.seed, template=prompt.template, messages=prompt.messages,
            max_tokens=ANSWER_TOKENS,
        )
        completion = await self._router.model("actor").complete(request, lambda piece: heard(piece if piece is None else clean(piece)))
        prose = clean(completion.text).strip()
        if not prose:
            raise ModelError("The model answered with nothing.", "Try again, or choose another model for the task actor.")
        return prose
