"""The prompt of an agent's beat. The preview and the call both get it here (invariant 2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.mind.voice import events_section, memories_section, mentioned, remembered
from engine.prompts.budget import fit
from engine.prompts.scene import Scene, identity, intentions, moment, perceived
from engine.prompts.templates import load
from engine.records.base import EntityId
from engine.records.memory import BufferEntry
from engine.records.policies import RecallPolicy
from engine.records.prompts import Cut, KnownThing, Message, Prompt, PromptReport, Recollection, Section, heading
from engine.records.world import World

ANSWER_TOKENS = 400
"""Room kept for the reply: three sentences and a margin."""


@dataclass(frozen=True, slots=True)
class Room:
    """What the routed model can hold."""

    context_window: int
    count_tokens: Callable[[str], int]


def build(
    world: World,
    viewer: EntityId,
    entries: Sequence[BufferEntry],
    recalled: Recollection,
    known: Sequence[KnownThing],
    room: Room,
    policy: RecallPolicy,
) -> Prompt:
    """The whole prompt for `viewer` now. Pure: the same values give the same bytes.

    `entries` is its buffer in order of time, `recalled` best first, `known` best first. Events come before memories when room is
    short, the newest before older ones; whatever does not fit is cut whole and named in the report (DESIGN 11).
    """
    also = {viewer, *(i for e in entries for i in mentioned(e)), *(i for m in recalled.entries for i in remembered(m))}
    template, scene = load("actor"), Scene(world, viewer, also)
    preamble, manner_text, question = template.parts
    fixed = {
        "self": identity(scene),
        "manner": Section(key="manner", title="How you act", text=manner_text),
        "moment": moment(scene),
        "senses": perceived(scene),
        "intentions": intentions(scene),
    }
    spent = room.count_tokens("\n\n".join([preamble, question, *(_render(s) for s in fixed.values())]))
    left = max(0, room.context_window - ANSWER_TOKENS - spent)
    cuts: list[Cut] = []

    def cost(text: str) -> int:
        return room.count_tokens(text) + 1

    newest_first = list(reversed(entries))
    kept, lost, used = fit(newest_first, lambda e: cost(events_section(world, viewer, [e], world.now, scene.names)), left)
    cuts += [Cut(section="events", source=e.id, reason="older than what fits the context window") for e in lost]
    events = sorted(kept, key=lambda e: (e.timestamp, e.seq))

    share = min(int(room.context_window * policy.share), left - used)
    facts, unfit, spent_facts = fit(known, lambda k: cost(scene.say(k.text)), share // 3)
    cuts += [Cut(section="knowledge", source=k.source, reason="no room in the share for knowledge") for k in unfit]
    rest = share - spent_facts
    memories, missed, _ = fit(recalled.entries, lambda m: cost(memories_section(world, viewer, [m], world.now, scene.names)), rest)
    cuts += [Cut(section="memories", source=m.id, reason="no room in the share for memories") for m in missed]

    sections = [
        *fixed.values(),
        Section(
            key="knowledge", title="What you know", text="\n".join(f"  - {scene.say(k.text)}" for k in facts),
            sources=tuple(k.source for k in facts), why_empty="" if facts else "nothing it knows bears on this moment",
        ),
        Section(
            key="memories", title="Your memories", text=memories_section(world, viewer, memories, world.now, scene.names),
            sources=tuple(m.id for m in memories), why_empty="" if memories else _no_memories(recalled),
        ),
        Section(
            key="events", title="Recent events", text=events_section(world, viewer, events, world.now, scene.names),
            sources=tuple(e.id for e in events), why_empty="" if events else "nothing has happened to it yet",
        ),
    ]
    counted = tuple(s.model_copy(update={"tokens": room.count_tokens(_render(s)) if s.text else 0}) for s in sections)
    told = {s.key: _render(s) for s in counted if s.text}
    system = "\n\n".join([preamble, *(told[k] for k in ("self", "manner") if k in told)])
    after = ("moment", "senses", "intentions", "knowledge", "memories", "events")
    user = "\n\n".join([*(told[k] for k in after if k in told), question])
    messages = (Message(role="system", content=system), Message(role="user", content=user))
    report = PromptReport(
        context_window=room.context_window, reserved=ANSWER_TOKENS, tokens=sum(room.count_tokens(m.content) for m in messages),
        cuts=tuple(cuts), receipts=recalled.receipts, problems=recalled.problems,
    )
    return Prompt(task="actor", entity=viewer, template=template.name, sections=counted, messages=messages, report=report)


def _render(section: Section) -> str:
    return f"{heading(section.title)}\n{section.text}"


def _no_memories(recalled: Recollection) -> str:
    return "a part of memory could not be reached" if recalled.problems else "nothing comes to mind"
