"""Whether an action can be done here and now: code rules first, the `referee` task for what rules cannot know (DESIGN 6)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import RuleError
from engine.llm.fitting import fitted
from engine.llm.protocol import LanguageModel, ModelRequest
from engine.llm.router import Router
from engine.llm.structured import ask
from engine.mind.handles import Handles
from engine.prompts.closing import referee_reply
from engine.prompts.judging import CROWDS, referee_prompt
from engine.records.clean import clean
from engine.records.intents import Intent, Outcome
from engine.records.wire import WireChange
from engine.records.world import Delta, LearnAttribute, Move, SetAttribute, SetPortal, Transfer, World
from engine.turns.rules import rule_on
from engine.world.rules import apply

_WORDS_A_MINUTE = 130
_LONGEST = 24 * 60
_LONGEST_REASON = 500
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_RULES_ONLY = frozenset({"name", "label", "asleep_since"})
"""Attributes that no model may set: they decide who is who."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one intent."""

    intent: Intent
    outcome: Outcome | None
    minutes: int
    deltas: tuple[Delta, ...]
    world: World
    """The world with the deltas applied; its clock has not moved."""


def minutes_of_speech(text: str) -> int:
    """A minute per 130 words or part of it (DESIGN 4)."""
    return -(-len(text.split()) // _WORDS_A_MINUTE)


class Referee:
    """Judges one intent after another against objective state."""

    def __init__(self, router: Router) -> None:
        self._router = router

    async def judge(self, world: World, intent: Intent) -> Verdict:
        """The verdict on `intent`. Speech and thought always succeed. Raises `ModelError`."""
        intent = intent.model_copy(update={"place": world.entities[intent.actor].place})
        if intent.type == "dialogue":
            return Verdict(intent, None, minutes_of_speech(intent.text), (), world)
        if intent.type == "monologue":
            return Verdict(intent, None, 0, (), world)
        ruling = rule_on(world, intent)
        if ruling is not None:
            done = _applied(world, ruling.deltas) if ruling.possible else (world, ())
            judged = intent.model_copy(update={"summary": ruling.summary or intent.summary})
            outcome = Outcome(is_valid=ruling.possible, reason=ruling.reason, finding=ruling.finding)
            return Verdict(judged, outcome, ruling.minutes, done[1], done[0])
        return await self._ask(world, intent)

    async def _ask(self, world: World, intent: Intent) -> Verdict:
        model = self._router.model("referee")
        return await fitted(model, lambda: self._judged(model, world, intent))

    async def _judged(self, model: LanguageModel, world: World, intent: Intent) -> Verdict:
        for most in CROWDS:
            prompt, handles = referee_prompt(world, intent, most)
            closed = referee_reply(handles, model.count_tokens)
            if model.count_tokens(prompt.text) + closed.max_tokens <= model.context_window:
                break
        request = ModelRequest(
            task="referee", entity=intent.actor, round=world.round, seed=world.seed, template=prompt.template,
            messages=prompt.messages, choices=closed.choices, max_tokens=closed.max_tokens,
        )
        reply, _ = await ask(model, request, closed.shape)
        reason = handles.tokens(clean(reply.reason)[:200]).strip()
        reason = reason if len(reason) <= _LONGEST_REASON else ""
        if not reply.possible:
            return Verdict(intent, Outcome(is_valid=False, reason=reason), 0, (), world)
        wanted = [d for change in reply.changes[:6] if (d := _delta(world, change, handles, intent)) is not None]
        after, deltas = _applied(world, wanted)
        return Verdict(intent, Outcome(is_valid=True, reason=reason), min(max(reply.minutes, 0), _LONGEST), deltas, after)


def _applied(world: World, deltas: Sequence[Delta]) -> tuple[World, tuple[Delta, ...]]:
    """The world after those deltas that its rules allow, and which they were."""
    done: list[Delta] = []
    for delta in deltas:
        try:
            world = apply(world, delta)
        except RuleError:
            continue
        done.append(delta)
    return world, tuple(done)


def _delta(world: World, change: WireChange, handles: Handles, intent: Intent) -> Delta | None:
    """A wire change as a delta; None when it names nothing real or goes beyond what a referee may change."""
    target = handles.id(change.target, "L" if change.kind in ("open", "close", "lock") else "P")
    to = handles.id(change.to, "L" if change.kind == "move" else "P")
    if target is None:
        return None
    match change.kind:
        case "open":
            return SetPortal(portal=target, state="open")
        case "close":
            return SetPortal(portal=target, state="closed")
        case "lock":
            return SetPortal(portal=target, state="locked")
        case "set" if _settable(change.name):
            return SetAttribute(entity=target, name=_plain(change.name), value=clean(change.value).strip()[:300])
        case "give":
            return Transfer(thing=target, holder=to) if to else None
        case "drop":
            return Transfer(thing=target, holder=None)
        case "move" if to is not None and to in world.portals and target == intent.actor and world.portals[to].state != "locked":
            onward = world.portals[to].leads(world.entities[target].place or "")
            return Move(entity=target, to=onward) if onward else None
        case "learn" if _learnable(world, target, change.name):
            return LearnAttribute(viewer=to or intent.actor, entity=target, name=change.name)
        case _:
            return None


def _plain(name: str) -> str:
    return "_".join(clean(name).split()).casefold()


def _settable(name: str) -> bool:
    """Whether a model may set an attribute: plain words, and none that decides who is who."""
    return bool(_NAME.fullmatch(_plain(name))) and _plain(name) not in _RULES_ONLY


def _learnable(world: World, entity: str, name: str) -> bool:
    """Whether a deed may bring an attribute out: names are told, not found, and what nobody knows stays the narrator's."""
    found = world.entities[entity].attributes.get(name) if entity in world.entities else None
    return found is not None and name not in _RULES_ONLY and (found.public or bool(found.known_to))
