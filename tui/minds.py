"""Working memories as they are shown, and what becomes of them: values, changed by nobody."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.records.base import BufferId, LedgerId
from engine.records.memory import BufferEntry, Chunk, TriggerReport

if TYPE_CHECKING:
    from engine.events import HandoffCommitted
    from engine.game import BufferView

QUIET = TriggerReport(trigger="none", reason="")


@dataclass(frozen=True, slots=True)
class MindLine:
    """One buffer entry as its owner would tell it."""

    entry: BufferEntry
    text: str
    when: str


@dataclass(frozen=True, slots=True)
class Mind:
    """A working memory as it is shown."""

    lines: tuple[MindLine, ...] = ()
    """In order of time."""
    below: frozenset[BufferId] = frozenset()
    """Entries older than the watermark."""
    held: frozenset[BufferId] = frozenset()
    """Entries below the watermark that a hand keeps."""
    report: TriggerReport = QUIET
    judging: frozenset[BufferId] = frozenset()
    """Candidates of the handoff that runs now."""
    chunks: tuple[Chunk, ...] = ()
    """What it has decided on so far."""
    fresh: frozenset[LedgerId] = frozenset()
    """Memories written just now."""
    counted: bool = True
    """Whether the tokens are those of these entries. They are counted when play rests, and are of the rest before until then."""

    @classmethod
    def of(cls, seen: "BufferView") -> "Mind":
        """The mind as the engine shows it at rest."""
        part = seen.partition
        entries = sorted((*part.candidates, *part.held, *part.tail), key=lambda entry: (entry.timestamp, entry.seq))
        lines = tuple(MindLine(entry, seen.lines.get(entry.id, ""), seen.when.get(entry.id, "")) for entry in entries)
        held = frozenset(entry.id for entry in part.held)
        return cls(lines, frozenset(entry.id for entry in part.candidates) | held, held, seen.report)


def remembered(mind: Mind, entry: BufferEntry, text: str) -> Mind:
    """The mind with a moment it has just perceived."""
    report = mind.report
    if entry.pinned == "none":
        report = report.model_copy(update={"entries": report.entries + 1})
    return replace(mind, lines=(*mind.lines, MindLine(entry, text, "just now")), report=report, counted=False)


def repinned(mind: Mind, entry: BufferEntry) -> Mind:
    """The mind with an entry as it is now."""
    return replace(mind, lines=tuple(replace(line, entry=entry) if line.entry.id == entry.id else line for line in mind.lines))


def restored(mind: Mind, entry: BufferEntry) -> Mind:
    """The mind with a moment that came back, at its place in time. Its words are read anew a moment later."""
    lines = [line for line in mind.lines if line.entry.id != entry.id]
    lines.append(MindLine(entry, "", lines[0].when if lines else "earlier"))
    below = mind.below | {entry.id}
    return replace(
        mind, lines=tuple(sorted(lines, key=lambda line: (line.entry.timestamp, line.entry.seq))), below=below,
        held=mind.held | ({entry.id} if entry.pinned == "hand" else set()),
    )


def committed(mind: Mind, event: "HandoffCommitted") -> Mind:
    """The mind after a handoff."""
    gone = {*event.promoted_ids, *event.forgotten_ids}
    pinned = set(event.pinned_ids)
    lines = tuple(
        replace(line, entry=line.entry.model_copy(update={"pinned": "model"})) if line.entry.id in pinned else line
        for line in mind.lines if line.entry.id not in gone
    )
    counted = sum(line.entry.pinned == "none" for line in lines)
    return replace(
        mind, lines=lines, judging=frozenset(), chunks=(), counted=False, fresh=frozenset(entry.id for entry in event.ledger),
        below=mind.below - gone, report=mind.report.model_copy(update={"entries": counted, "trigger": "none", "reason": ""}),
    )
