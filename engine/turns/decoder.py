"""From prose to intents: one structured call, and its reply turned from handles and names into ids."""

from collections.abc import Mapping, Sequence

from engine.errors import BadOutputError
from engine.llm.fitting import fitted
from engine.llm.protocol import LanguageModel, ModelRequest
from engine.llm.router import Router
from engine.llm.structured import ask
from engine.mind.aliases import tokenize, vocabulary
from engine.mind.handles import Handles
from engine.mind.perception import reach
from engine.prompts.closing import decode_reply
from engine.prompts.judging import CROWDS, decode_prompt
from engine.records.base import EntityId
from engine.records.clean import clean
from engine.records.intents import Intent, IntentType, Verb
from engine.records.wire import WireIntent
from engine.records.world import World

_SPOKEN: tuple[Verb, ...] = ("say", "whisper", "shout")
_NEUTRAL: Mapping[IntentType, Verb] = {"dialogue": "say", "action": "other", "monologue": "think"}
_MAX_INTENTS = 8
_SHORTEST_COPY = 8
"""Characters that are no accident when they stand in the instructions."""
_LONGEST_SUMMARY = 500
"""Characters of a deed as told; cut before handles become tokens, so that none is cut in two."""


class Decoder:
    """Splits what an agent wrote, or a person typed, into intents."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def decode(self, world: World, actor: EntityId, prose: str) -> list[Intent]:
        """The intents of `prose`, in order, at least one. Raises `ModelError`, `CapReachedError`."""
        model = self._router.model("decode")
        return await fitted(model, lambda: self._decode(model, world, actor, prose))

    async def _decode(self, model: LanguageModel, world: World, actor: EntityId, prose: str) -> list[Intent]:
        for most in CROWDS:
            prompt, handles = decode_prompt(world, actor, prose, most)
            closed = decode_reply(handles, actor, prose, model.count_tokens, model.context_window)
            if model.count_tokens(prompt.text) + closed.max_tokens <= model.context_window:
                break
        request = ModelRequest(
            task="decode", entity=actor, round=world.round, seed=world.seed, template=prompt.template, messages=prompt.messages,
            choices=closed.choices, max_tokens=closed.max_tokens,
        )
        reply, completion = await ask(model, request, closed.shape)
        names = known_names(world, actor)
        meant = _meant(reply.intents, prose, prompt.messages[0].content)[:_MAX_INTENTS]
        intents = [i for wire in meant if (i := _intent(wire, actor, handles, names)) is not None]
        if not intents:
            raise BadOutputError(
                "The decoder found nothing that could be meant by the prose.", reply=completion.text,
                advice="Try the beat again, or choose another model for the task decode.",
            )
        return intents


def known_names(world: World, viewer: EntityId) -> dict[str, EntityId]:
    """What `viewer` may call itself and others in prose: of all it has an alias for, and of those around."""
    me = world.entities[viewer]
    names = vocabulary(world, viewer, [*reach(world, viewer).around, *me.aliases])
    own = me.attributes.get("name")
    return names | ({own.value: viewer} if own is not None and own.may_know(viewer) else {})


def _meant(wires: Sequence[WireIntent], prose: str, instructions: str) -> list[WireIntent]:
    """The intents without what small models put among them: the example of the instructions, one intent over and over, and a deed's
    own words as something said."""
    prose, instructions = _line(prose), _line(instructions)
    kept: list[WireIntent] = []
    for wire in wires:
        text = _line(wire.text)
        copied = len(text) >= _SHORTEST_COPY and text in instructions and text not in prose
        same = sum(wire.type == one.type and text == _line(one.text) and wire.summary == one.summary for one in kept)
        done = wire.type == "dialogue" and any(one.type == "action" and text == _line(one.text) for one in kept)
        if not copied and not done and same < max(1, prose.count(text) if text else 0):
            kept.append(wire)
    return kept


def _line(text: str) -> str:
    return " ".join(text.split())


def _intent(wire: WireIntent, actor: EntityId, handles: Handles, names: Mapping[str, EntityId]) -> Intent | None:
    text = clean(wire.text).strip()
    verb = wire.verb
    if (wire.type == "dialogue") != (verb in _SPOKEN) or (wire.type == "monologue") != (verb == "think"):
        verb = _NEUTRAL[wire.type]
    if wire.type == "dialogue":
        text = text.strip('"“”«» ')
    if not text:
        return None
    portal = next((i for handle in wire.targets if (i := handles.id(handle, "L"))), None)
    people = tuple(dict.fromkeys(i for handle in wire.targets if (i := handles.id(handle, "P")) and i != actor))
    summary = ""
    if wire.type == "action":
        summary = tokenize(handles.tokens(clean(wire.summary)[:_LONGEST_SUMMARY]), names).strip().rstrip(".")
        summary = summary or "did something"
    modifiers = tuple(m.strip() for m in map(clean, wire.modifiers) if m.strip())[:3]
    return Intent(type=wire.type, verb=verb, text=text, summary=summary, actor=actor, targets=people, portal=portal, modifiers=modifiers)
