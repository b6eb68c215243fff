"""Sessions as lines of text, for the command line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tui.tables import hanging, table
from tui.text import capital, count, plain

if TYPE_CHECKING:
    from engine.records.sessions import SessionCollapseSummary
    from engine.replies import CollapseState
    from engine.session_views import Became, SessionLine, SessionPage


def lines_told(lines: "Sequence[SessionLine]") -> Iterator[str]:
    """A list of sessions."""
    yield from table(
        ("session", "state", "turns", "last turn", "who, and what it came to"),
        [(line.session.id, line.state, _turns(line), line.last, _who(line)) for line in lines],
    )


def _turns(line: "SessionLine") -> str:
    return f"{line.turns}{f', {line.pinned} pinned' if line.pinned else ''}"


def _who(line: "SessionLine") -> str:
    pair = f"{line.agent} with {line.actor}"
    if line.run is None:
        return pair
    told = f"{pair}: {line.run.goal}" if line.run.goal else pair
    run = line.run
    came_to_nothing = line.state == "collapsed" and run.asked and not (run.added or run.merged or run.retired)
    return f"{told} (nothing was learned)" if came_to_nothing else told


def page_told(page: "SessionPage") -> Iterator[str]:
    """All of one session."""
    line, report = page.line, page.report
    session = line.session
    yield from hanging("", f"{session.id}: {line.agent} with {line.actor}, {line.state}, since round {session.started_round}.")
    if session.status in ("open", "collapsing"):
        reckoned = f"{report.turns} of {report.max_turns} turns, {report.tokens:,} of {report.max_tokens:,} tokens"
        idle = f"no turn for {report.idle_seconds:,} of {report.inactivity_timeout:,} seconds"
        yield from hanging("", f"{capital(report.text)}: {reckoned}, {idle}.")
    yield from _section("Notes", list(notes_told(page.scratch)))
    yield from _section("To do", [text for task in page.tasks for text in hanging("  - ", task)])
    turns = [
        (one.turn.id, "*" if one.turn.pinned else "", one.speaker or "(note)", one.text + (f" [{one.turn.hint}]" if one.turn.hint else ""))
        for one in page.turns
    ]
    yield from _section("Turns (* pinned)", list(table(("turn", "*", "who", "what"), turns)))
    for run in page.runs:
        did = {"committed": "collapsed", "skipped": "collapsed without a model", "failed": "failed"}[run.run.status]
        part = ", its older part" if run.run.partial else ""
        yield ""
        yield from hanging("", f"{run.run.id}, {run.when}: {did}{part}, {run.run.reason}; {run.run.gate.reason}.")
        if run.run.error:
            yield from hanging("  ! ", run.run.error)
        if run.summary is not None:
            yield from summary_told(run.summary)
        yield from (text for words in run.cut for text in hanging("  cut: ", words))
        yield from (text for words in run.notes for text in hanging("  note: ", words))
    yield from _section("Became knowledge", [text for one in page.became for text in _became(one)])


def _became(one: "Became") -> Iterator[str]:
    ended = "" if one.holds else " (it ended)" if one.there else " (it is no more)"
    yield from hanging(f"  {one.knowledge_id}  ", f"{', '.join(one.did)}: {one.text}{ended}")


def notes_told(scratch: Mapping[str, str]) -> Iterator[str]:
    """A scratchpad."""
    for key, note in scratch.items():
        yield from hanging(f"  {plain(key)}: ", note)


def collapse_told(state: "CollapseState") -> Iterator[str]:
    """What a collapse came to."""
    run = state.collapse
    if run is None or state.summary is None:
        yield f"{state.session_id} is {state.status}."
        return
    made = f"{count(run.added, 'piece')} of knowledge added, {run.merged} merged, {run.retired} ended"
    why = f"; no model was asked: {run.gate.reason}" if run.status == "skipped" else f" by {run.model}"
    yield from hanging("", f"{state.session_id} is collapsed{why}. {made}.")
    yield from summary_told(state.summary)
    if run.cut:
        yield from hanging("  ", f"{count(len(run.cut), 'turn or statement', 'turns or statements')} gave orders and became nothing.")


def summary_told(summary: "SessionCollapseSummary") -> Iterator[str]:
    """What is left of a session."""
    yield from hanging("  goal: ", f"{summary.goal} ({summary.outcome})")
    for fact in summary.facts:
        yield from hanging("  fact: ", f"{fact.content} ({fact.confidence:.2f})")
    for made in summary.decisions:
        why = f" Because: {made.rationale}" if made.rationale else ""
        instead = f" Instead of: {made.supersedes}" if made.supersedes else ""
        yield from hanging("  decision: ", f"{made.content}{why}{instead}")
    for way in summary.strategies:
        yield from hanging("  strategy: ", f"{way.trigger}: {way.action}{f' ({way.context})' if way.context else ''}")
    for found in summary.discoveries:
        yield from hanging("  found: ", found)
    for step in summary.next_steps:
        yield from hanging("  to do: ", step)
    counted = f"{count(summary.turns_processed, 'turn')}, {summary.pins_used} pinned, {count(summary.llm_tokens_used, 'token')}"
    yield f"  from {counted}"


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
        yield from lines
