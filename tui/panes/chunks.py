"""A proposal as it is reviewed: what would be kept, what becomes of each moment, and how much is decided. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from engine.records.base import EntityId
from engine.records.review import PendingProposal, Verdict
from tui.glyphs import CANDIDATE, DEED, PIN_MODEL, REFUSED, SPEECH, THOUGHT
from tui.panes.origins import quoted, source_row, told_row, weight
from tui.panes.rows import Row
from tui.text import count, plain

if TYPE_CHECKING:
    from engine.memory_views import ChunkLine
    from engine.views import BufferView

_MODES = {"said": SPEECH, "done": DEED, "thought": THOUGHT}
VERDICTS: Mapping[Verdict, tuple[str, str]] = {
    "open": (f"{CANDIDATE} ", ".candidate"), "accepted": ("✓ ", ".good"), "rejected": (f"{REFUSED} ", ".bad"),
}
"""Sign and colour of what a person said."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A proposal with everything its screen draws."""

    pending: PendingProposal
    lines: "Sequence[ChunkLine]"
    buffer: "BufferView | None"
    """The owner's mind now: what the candidates say."""
    names: Mapping[EntityId, str]
    """What the owner calls those involved."""

    @property
    def open(self) -> int:
        """Chunks nobody has decided on yet."""
        return self.pending.verdicts.count("open")

    @property
    def first_open(self) -> int:
        """Number of the first chunk nobody has decided on; else of the first that is shown, -1 for none."""
        order = [line.index for line in self.in_order()]
        return next((index for index in order if self.pending.verdicts[index] == "open"), order[0] if order else -1)

    def unchanged(self, line: "ChunkLine") -> bool:
        """Whether a chunk leaves a memory as it is, so that nobody has to decide: a thread that goes on, in the same words."""
        return not line.news and self.pending.verdicts[line.index] == "accepted"

    def in_order(self) -> "list[ChunkLine]":
        """The chunks as they are shown: those that leave all as it is come last."""
        return sorted(self.lines, key=self.unchanged)


def chunk_rows(reviewed: Reviewed, sources: bool) -> list[Row]:
    """What would be kept, each memory as it would stand in the ledger. `sources`: with the moments each was made of."""
    rows: list[Row] = []
    for line in reviewed.in_order():
        rows.append(_chunk(reviewed, line))
        if sources and not reviewed.unchanged(line):
            rows += [told_row(memory.text, memory.when) for memory in line.memories]
            rows += [source_row(source, fate=False) for source in line.sources if not line.memories]
        rows.append(Row(Content("")))
    if not reviewed.lines:
        rows.append(Row(Content.styled("It would keep nothing: every moment would be forgotten.", ".quiet"), lead=Content(" ")))
    if sources:
        rows += forgotten_rows(reviewed)
    return rows


def _chunk(reviewed: Reviewed, line: "ChunkLine") -> Row:
    verdict = reviewed.pending.verdicts[line.index]
    sign, style = VERDICTS[verdict]
    chunk = reviewed.pending.proposal.chunks[line.index]
    key = str(line.index)
    if reviewed.unchanged(line):
        body = Content.assemble((f"memory {line.index + 1}  unchanged", ".quiet"), "\n", (plain(line.text), ".quiet"))
        return Row(body, lead=Content.styled("= ", ".quiet"), tail=Content.styled(f"{line.importance:>2}  ", ".quiet"), key=key, name=key)
    edited = "  in your words" if chunk.by_hand else ""
    parts = [Content.assemble((f"memory {line.index + 1}", ".name"), (f"  {verdict}", style), (edited, ".quiet"))]
    parts += [Content.styled(plain(line.text), ".quiet" if verdict == "rejected" else ".deed"), *quoted(line.quotes)]
    people = ", ".join(plain(reviewed.names.get(one, one)) for one in chunk.involved_entity_ids)
    about = [f"with {people}"] if people else []
    about += ["its moments stay in mind too"] if line.retain else []
    about += [f"told from {count(len(line.memories), 'older memory', 'older memories')}"] if line.memories else []
    parts += [Content.styled(" · ".join(about), ".quiet")] if about else []
    if line.updates_text:
        parts.append(Content.assemble(("instead of  ", ".candidate"), (plain(line.updates_text), ".thought")))
    return Row(Content("\n").join(parts), lead=Content.styled(sign, style), tail=weight(line.importance), key=key, name=key)


def fate_of(reviewed: Reviewed) -> dict[str, tuple[str, str]]:
    """What becomes of each candidate as things stand, and how that is coloured. Those of a rejected memory are forgotten with it."""
    fates: dict[str, tuple[str, str]] = {}
    for index, (chunk, verdict) in enumerate(zip(reviewed.pending.proposal.chunks, reviewed.pending.verdicts, strict=True), 1):
        if verdict != "rejected":
            fates |= dict.fromkeys(chunk.source_ids, (f"{PIN_MODEL} " * chunk.retain + f"memory {index}", ".good"))
    return fates


def forgotten_rows(reviewed: Reviewed) -> list[Row]:
    """What would be forgotten as things stand."""
    kept = fate_of(reviewed)
    gone = [entry for entry in reversed(reviewed.pending.proposal.candidates) if entry.id not in kept]
    title = f"Would be forgotten: {count(len(gone), 'moment')}" if gone else "Nothing would be forgotten."
    return [
        Row(Content.styled(title, ".head"), lead=Content.styled("── ", ".rule"), rule="─"),
        *(_moment(reviewed, entry.id, _MODES[entry.mode], (f"{REFUSED} forgotten", ".quiet"), False) for entry in gone),
    ]


def moment_rows(reviewed: Reviewed, at: int) -> list[Row]:
    """All that a proposal was made from, newest first as in the mind, each with what becomes of it. The sources of memory `at` are lit."""
    proposal = reviewed.pending.proposal
    lit = set(proposal.chunks[at].source_ids) if 0 <= at < len(proposal.chunks) else set()
    fates = fate_of(reviewed)
    rows: list[Row] = []
    when = ""
    for entry in reversed(proposal.candidates):
        if reviewed.buffer is not None and (now := reviewed.buffer.when.get(entry.id, "")) != when:
            when = now
            rows.append(Row(Content.styled(plain(when).capitalize(), ".head"), lead=Content(" ")))
        fate = fates.get(entry.id, (f"{REFUSED} forgotten", ".quiet"))
        rows.append(_moment(reviewed, entry.id, _MODES[entry.mode], fate, entry.id in lit))
    if not proposal.candidates and 0 <= at < len(reviewed.lines):
        rows += [told_row(memory.text, memory.when) for memory in reviewed.lines[at].memories]
    return rows


def _moment(reviewed: Reviewed, key: str, mode: str, fate: tuple[str, str], lit: bool) -> Row:
    text = reviewed.buffer.lines.get(key, "") if reviewed.buffer else ""
    return Row(
        Content.styled(plain(text).removesuffix(" (Outcome: succeeded)") or "It has left working memory.", ".deed"),
        lead=Content.styled(f"{'▸' if lit else ' '} {mode} ", ".key" if lit else ".quiet"), tail=Content.styled(*fate), key=f"moment:{key}",
        tint="lit" if lit else "", name="lit" if lit else "",
    )
