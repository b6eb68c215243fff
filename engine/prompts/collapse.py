"""The prompt of a collapse: a session's turns as M-handles, what was known before as K-handles, people as P-handles, no id."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Literal, get_args

from engine.llm.tokens import estimate_tokens
from engine.mind.aliases import known_name, tokenize, vocabulary
from engine.mind.handles import Handles
from engine.mind.timewords import naturalize_time
from engine.prompts.remembering import Told, Window, call, plain
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge
from engine.records.prompts import Prompt, Section
from engine.records.sessions import CollapsePolicy, Session, Turn
from engine.records.tokens import referred
from engine.records.world import World

Extract = Literal["facts", "decisions", "strategies", "nextSteps"]
"""What a policy may leave out, by its name on the wire."""
_LEAST_REPLY, _MOST_REPLY, _SHARE = 900, 1_800, 3
"""Tokens of a reply at the least and at the most, and the part of a window that it may fill between them."""
_ALL: Final = frozenset(get_args(Extract))


def extracted(policy: CollapsePolicy) -> frozenset[Extract]:
    """What is taken from a session by its policy."""
    wanted: dict[Extract, bool] = {
        "facts": policy.extract_facts, "decisions": policy.extract_decisions, "strategies": policy.extract_strategies,
        "nextSteps": policy.extract_tasks,
    }  # fmt: skip
    return frozenset(name for name, taken in wanted.items() if taken)


def build(
    world: World, session: Session, turns: Sequence[Turn], known: Sequence[Knowledge], now: datetime, *,
    count_tokens: Callable[[str], int] = estimate_tokens, context_window: int = 0,
) -> tuple[Prompt, Handles]:  # fmt: skip
    """The call that tells what is left of `turns`, which are in order, and the handles its reply will use. Pure.

    `known` is what the agent knows already of what was spoken of: what is told of it anew keeps its topic key.
    """
    wanted = extracted(session.policy)

    def judged(handles: Handles, told: Told) -> list[Section]:
        lines = [f"{handles.entry(turn.id)} {_turn(turn, now, told)}" for turn in turns]
        facts = [f"{handles.fact(one.id)} [{one.kind}, {one.topic_key or '-'}] {plain(one.content, told)}" for one in known]
        notes = [f"{plain(key, told)}: {plain(text, told)}" for key, text in session.scratch.items()]
        return [
            Section(key="session", title="Session", text=f"{told[session.agent_id]} dealt with {told[session.actor_id]}."),
            Section(key="notes", title="Notes", text="\n".join(notes), why_empty="" if notes else "nothing was noted"),
            Section(
                key="known", title="Known before", text="\n".join(facts), sources=tuple(one.id for one in known),
                why_empty="" if facts else "nothing is known of this yet",
            ),
            Section(key="turns", title="Turns", text="\n".join(lines), sources=tuple(turn.id for turn in turns)),
            Section(key="wanted", title="Wanted", text=", ".join(sorted(wanted)) or "goal and outcome only"),
        ]

    window = Window(context_window, count_tokens, reply_tokens(context_window))
    people = [*people_of(session, turns, known), *mentioned(world, session.agent_id, turns)]
    return call(world, session.agent_id, "collapse", list(dict.fromkeys(people)), "nobody else is in it", window, judged, "collapse")


def reply_tokens(context_window: int) -> int:
    """Room for the reply in a window; the least for one that is not known."""
    return max(_LEAST_REPLY, min(_MOST_REPLY, context_window // _SHARE))


def mentioned(world: World, agent: EntityId, turns: Sequence[Turn]) -> list[EntityId]:
    """Whom the words of turns speak of by a name that the agent has for them, in order of first mention: words hold no tokens, and what is
    told of somebody absent needs a handle as well."""
    me = world.entities[agent]
    heard = [other.id for other in world.entities.values() if other.id != agent and known_name(world, agent, other.id)]
    names = vocabulary(world, agent, dict.fromkeys([*me.aliases, *heard]))
    spoken = (turn.content for turn in turns if turn.role != "note")
    return list(dict.fromkeys(entity for words in spoken for entity in referred(tokenize(words, names)) if entity in world.entities))


def people_of(session: Session, turns: Sequence[Turn], known: Sequence[Knowledge]) -> list[EntityId]:
    """The agent, whom it dealt with, then everybody and everything that is named, in order of first mention."""
    spoken = (entity for turn in turns for entity in (*([turn.speaker_id] if turn.speaker_id else []), *referred(turn.content)))
    noted = (entity for text in session.scratch.values() for entity in referred(text))
    of_old = (entity for one in known for entity in (*([one.subject_id] if one.subject_id else []), *referred(one.content)))
    return list(dict.fromkeys([session.agent_id, session.actor_id, *spoken, *noted, *of_old]))


def _turn(turn: Turn, now: datetime, told: Told) -> str:
    """`[said] moments ago: P2: "Have you a room?"`, `[note, pinned] just now: P2 looked at the door.`"""
    marks = ["note" if turn.role == "note" else "said", *(["pinned"] if turn.pinned else [])]
    words = plain(turn.content, told)
    text = words if turn.role == "note" else f'{told.get(turn.speaker_id or "", "somebody")}: "{words}"'
    hint = f" (Note: {plain(turn.hint, told)})" if turn.hint.strip() else ""
    return f"[{', '.join(marks)}] {naturalize_time(now, turn.timestamp)}: {text}{hint}"
