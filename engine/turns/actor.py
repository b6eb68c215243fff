"""What an agent is asked, and what it answers."""

from collections.abc import Callable, Sequence

from engine.errors import ModelError
from engine.llm.protocol import ModelRequest
from engine.llm.router import Router
from engine.memory.lore import bearing_on
from engine.memory.recall.engine import RecallEngine
from engine.mind.voice import events_section
from engine.prompts.actor import ANSWER_TOKENS, Room, build
from engine.prompts.scene import Scene, perceived, told_of
from engine.records.authored import LoreItem
from engine.records.base import EntityId
from engine.records.clean import clean
from engine.records.policies import Policies
from engine.records.prompts import Prompt
from engine.records.world import World
from engine.storage.store import Store


class Actor:
    """Drafts prompts and has them answered. Drafting changes nothing, so that a preview is the prompt itself."""

    def __init__(self, store: Store, router: Router, recall: RecallEngine, policies: Policies, lore: Sequence[LoreItem]) -> None:
        self._store, self._router, self._recall = store, router, recall
        self._policies, self._lore = policies, tuple(lore)

    async def draft(self, world: World, entity: EntityId) -> Prompt:
        """The prompt that `entity` gets at this moment, byte for byte."""
        model = self._router.model("actor")
        entries = await self._store.db.read(lambda conn: self._store.buffer.of_owner(conn, entity))
        recalled = await self._recall.recall(world, entity, entries, world.now)
        scene = Scene(world, entity)
        known = told_of(scene)
        if self._lore:
            words = "\n".join([perceived(scene).text, scene.place(), events_section(world, entity, entries, world.now)])
            known += bearing_on(self._lore, scene.me, words)
        room = Room(model.context_window, model.count_tokens)
        return build(world, entity, entries, recalled, known, room, self._policies.recall)

    async def answer(self, world: World, prompt: Prompt, heard: Callable[[str], None]) -> str:
        """The prose, cleaned; `heard` gets each piece as it comes. Raises `ModelError`, for a blank answer too."""
        request = ModelRequest(
            task="actor", entity=prompt.entity, round=world.round, seed=world.seed, messages=prompt.messages, max_tokens=ANSWER_TOKENS
        )
        pieces = []
        async for piece in self._router.model("actor").stream(request):
            pieces.append(piece)
            heard(clean(piece))
        prose = clean("".join(pieces)).strip()
        if not prose:
            raise ModelError("The model answered with nothing.", "Try again, or choose another model for the task actor.")
        return prose
