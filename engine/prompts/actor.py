"""The prompt of an agent's beat. The preview and the call both get it here (invariant 2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.mind.voice import grouped, mentioned, remembered, told_event, told_memory
from engine.prompts.budget import fit
from engine.prompts.pursuing import pursuits
from engine.prompts.receipts import as_sent
from engine.prompts.scene import Scene, identity, intentions, moment, perceived
from engine.prompts.templates import load
from engine.records.base import EntityId
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.policies import RecallPolicy
from engine.records.prompts import Cut, KnownThing, Message, Prompt, PromptReport, Recollection, Section, heading
from engine.records.sessions import Pursuit
from engine.records.templates import Template
from engine.records.tokens import referred
from engine.records.world import World

ANSWER_TOKENS = 400
"""Room kept for the reply: three sentences and a margin."""
_IN_HAND = 16
"""What is in hand with those here takes up to this part of the window: it counts as fixed, and may be long."""
_STABLE = ("self", "manner")
"""Sections of the system message: the same from beat to beat."""


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
    pursued: Sequence[Pursuit] = (),
) -> Prompt:
    """The whole prompt for `viewer` now. Pure: the same values give the same bytes.

    `entries` is its buffer in order of time, `recalled` best first, `known` best first; of `pursued` what concerns those here. Events
    come before memories when room is short, the newest before older ones; whatever does not fit is cut whole and named in the report
    (DESIGN 11).
    """
    also = {viewer, *(i for e in entries for i in mentioned(e)), *(i for m in recalled.entries for i in remembered(m))}
    in_hand_texts = (text for one in pursued for text in (*one.tasks, *one.scratch, *one.scratch.values()))
    also |= {i for text in (*(k.text for k in known), *in_hand_texts) for i in referred(text)}
    template, scene = load("actor", world), Scene(world, viewer, also)
    preamble, manner_text, question = template.parts
    manner = Section(key="manner", title="How you act", text=manner_text)
    cuts: list[Cut] = []

    def cost(text: str) -> int:
        return room.count_tokens(text) + 1

    in_hand, over, _ = fit(pursuits(scene, pursued), lambda line: cost(line[1]), room.context_window // _IN_HAND)
    cuts += [Cut(section="intentions", source=source, reason="no room for more of what is in hand") for source, _ in over]
    fixed = [identity(scene), manner, moment(scene), perceived(scene), intentions(scene, in_hand)]
    spent = room.count_tokens("\n\n".join([preamble, question, *map(_render, fixed)]))
    left = max(0, room.context_window - ANSWER_TOKENS - spent)

    # Each piece is put into words once. The price of an entry counts time words of its own, which it may share in the end.
    told = {e.id: told_event(world, viewer, e, world.now, scene.names) for e in entries}
    told |= {m.id: told_memory(m, world.now, scene.names) for m in recalled.entries}
    lines = [(k.source, scene.say(k.text)) for k in known]

    def price(entry: BufferEntry | LedgerEntry) -> int:
        return cost("\n".join(told[entry.id]))

    kept, lost, used = fit(list(reversed(entries)), price, left)
    cuts += [Cut(section="events", source=e.id, reason="older than what fits the context window") for e in lost]

    share = min(int(room.context_window * policy.share), left - used)
    facts, unfit, spent_facts = fit(lines, lambda line: cost(line[1]), share // 3)
    cuts += [Cut(section="knowledge", source=source, reason="no room in the share for knowledge") for source, _ in unfit]
    memories, missed, _ = fit(recalled.entries, price, share - spent_facts)
    cuts += [Cut(section="memories", source=m.id, reason="no room in the share for memories") for m in missed]

    events = sorted(kept, key=_when)
    sections = [
        *fixed,
        Section(
            key="knowledge", title="What you know", text="\n".join(f"  - {line}" for _, line in facts),
            sources=tuple(source for source, _ in facts), why_empty="" if facts else "nothing it knows bears on this moment",
        ),
        Section(
            key="memories", title="Your memories", text=grouped(told[m.id] for m in sorted(memories, key=_when)),
            sources=tuple(m.id for m in memories), why_empty="" if memories else _no_memories(recalled),
        ),
        Section(
            key="events", title="Recent events", text=grouped(told[e.id] for e in events),
            sources=tuple(e.id for e in events), why_empty="" if events else "nothing has happened to it yet",
        ),
    ]
    return _assembled(viewer, template, sections, room, cuts, recalled)


def _assembled(
    viewer: EntityId, template: Template, sections: Sequence[Section], room: Room, cuts: Sequence[Cut], recalled: Recollection
) -> Prompt:
    """The messages that the sections make, what is stable first, with the report."""
    preamble, _, question = template.parts
    rendered = {s.key: _render(s) for s in sections if s.text}
    counted = tuple(s.model_copy(update={"tokens": room.count_tokens(rendered[s.key])}) if s.text else s for s in sections)
    system = "\n\n".join([preamble, *(rendered[k] for k in _STABLE if k in rendered)])
    user = "\n\n".join([*(text for key, text in rendered.items() if key not in _STABLE), question])
    messages = (Message(role="system", content=system), Message(role="user", content=user))
    receipts, candidates = as_sent(recalled, cuts)
    report = PromptReport(
        context_window=room.context_window, reserved=ANSWER_TOKENS, tokens=sum(room.count_tokens(m.content) for m in messages),
        cuts=tuple(cuts), query=recalled.query, focus=recalled.focus, receipts=receipts, candidates=candidates, problems=recalled.problems,
    )
    return Prompt(task="actor", entity=viewer, template=template.name, sections=counted, messages=messages, report=report)


def _when(entry: BufferEntry | LedgerEntry) -> tuple[datetime, int]:
    return entry.timestamp, entry.seq


def _render(section: Section) -> str:
    return f"{heading(section.title)}\n{section.text}"


def _no_memories(recalled: Recollection) -> str:
    return "a part of memory could not be reached" if recalled.problems else "nothing comes to mind"
