"""One session in full, row by row: what it is near to, its notes, tasks and turns, what became of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.content import Content

from tui.glyphs import PIN_HAND, SPEECH
from tui.panes.pane import bar
from tui.panes.rows import Row
from tui.panes.sessions import REASONS, STAGES, STATE_STYLES, nearest, pair, spans
from tui.panes.sessions_ended import NOTE, TURN, Rows, run_rows
from tui.text import capital, count, paragraphs, plain

if TYPE_CHECKING:
    from engine.events import CollapseStep
    from engine.records.sessions import CollapsePolicy, CollapseReport
    from engine.session_views import SessionPage, TurnLine

_WIDTH = 14
"""Cells of a gauge."""
_NEXT = {"collapsed": "It has ended.", "discarded": "It was discarded: nothing came of it."}
_LONGEST_WAIT = 64
_HINTS = {"to another": "said to somebody else, and overheard"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What decides how a session is shown besides what it is."""

    round: int = 0
    steps: "Sequence[CollapseStep]" = ()
    """Of the collapse that is under way, as far as they were told."""
    open_folds: Collection[str] = field(default_factory=frozenset)


def detail_of(page: "SessionPage", shown: Shown) -> list[Row]:
    """All of it. Every row that says something can be chosen, so that the cursor passes nothing by."""
    rows = Rows()
    _head(rows, page)
    state = page.line.state
    if state == "failed":
        _failed(rows, page, shown)
    if state == "collapsing":
        _under_way(rows, shown.steps)
    if state == "open":
        _gauges(rows, page)
    if state in ("collapsed", "discarded"):
        _runs(rows, page, shown)
    if page.tasks:
        rows.head("Left to do from the session before" if not page.line.session.parts else "Left to do")
        for task in page.tasks:
            rows.text(task, lead="□ ")
    if page.scratch:
        rows.head("Notes")
        for key, text in page.scratch.items():
            rows.row(Content.assemble((plain(key), ".key"), "  ", (plain(text), ".deed")), key=NOTE + key)
    if state not in ("collapsed",) or page.turns:
        _turns(rows, page)
    if state not in ("collapsed", "discarded"):
        _runs(rows, page, shown)
    for title, texts in (("Entities found so far", page.found), ("Decisions made so far", page.decided)):
        if texts and state not in ("collapsed", "discarded"):
            rows.head(title)
            for text in texts:
                rows.text(capital(plain(text)))
    _memories(rows, page)
    _policy(rows, page.line.session.policy)
    return rows.made


def _head(rows: Rows, page: "SessionPage") -> None:
    line, session = page.line, page.line.session
    rows.row(pair(line), tail=Content.styled(line.state, STATE_STYLES[line.state]))
    parts = [plain(session.id), f"begun in round {session.started_round}"]
    if session.ended_round is not None and session.status != "collapsing":
        parts.append(f"ended in round {session.ended_round}, {plain(line.ended)}")
    else:
        parts.append(f"last word {plain(line.last)}")
    parts += [f"{count(session.parts, 'part')} collapsed before"] if session.parts else []
    rows.quiet(" · ".join(parts))
    if session.status == "discarded":
        rows.quiet("Discarded: nothing came of it, and its turns are still here. r takes that back.")


def _gauges(rows: Rows, page: "SessionPage") -> None:
    report, policy = page.report, page.line.session.policy
    rows.head("What ends it")
    if policy.mode == "explicit":
        rows.text("Only a word ends it: c collapses it, d discards it.")
        rows.quiet(f"{count(report.turns, 'turn')} · {report.tokens:,} tokens · last word {plain(page.line.last)}")
        return
    near = nearest(policy, report.turns, report.tokens, report.idle_seconds)
    gauges = (
        ("silence", report.idle_seconds, report.inactivity_timeout, spans(report.idle_seconds, report.inactivity_timeout), "ends it"),
        ("turns", report.turns, report.max_turns, f"{report.turns} of {report.max_turns}", "ends it"),
        ("tokens", report.tokens, report.max_tokens, f"{report.tokens:,} of {report.max_tokens:,}", "takes its older part"),
    )
    for name, value, limit, words, does in gauges:
        share = min(value / limit, 1.0) if limit else 1.0
        here = name == near.trigger
        style = ".candidate" if here and share >= 0.8 else ".bar"
        body = Content.assemble(bar(share, _WIDTH, style), " ", (words, ".deed"), (f"  {does}", ".quiet"))
        rows.row(body, lead=Content.styled(f"{'▸' if here else ' '} {name:<8}", ".key" if here else ".quiet"))
    rows.text(_told(report, near.trigger))


def _told(report: "CollapseReport", trigger: str) -> str:
    """The nearest trigger in words."""
    if report.reason is not None:
        return f"It is due: {REASONS[report.reason]}. The next look between two rounds collapses it."
    if trigger == "silence":
        left = report.inactivity_timeout - report.idle_seconds
        minutes = -(-left // 60)
        return f"Nearest is silence: {count(minutes, 'more minute')} of world time without a word end it."
    if trigger == "turns":
        return f"Nearest is its length: {count(report.max_turns - report.turns, 'more turn')} end it."
    left = report.max_tokens - report.tokens
    if left < 0:
        return "It is too long, but all that is old is pinned: letting go of a pin lets its older part be collapsed."
    return f"Nearest is its size: after {left:,} more tokens its older part is collapsed, and what is pinned stays."


def _failed(rows: Rows, page: "SessionPage", shown: Shown) -> None:
    failed = 0
    for line in reversed(page.runs):
        if line.run.status != "failed" or line.run.part != page.line.session.parts:
            break
        failed += 1
    rows.head("It could not be collapsed")
    last = page.runs[-1].run if page.runs else None
    if last is not None:
        rows.row(Content.styled(plain(last.error), ".bad"), lead=Content.styled("! ", ".bad"))
        again = last.round + min(_LONGEST_WAIT, 2 ** max(failed - 1, 0))
        when = f"from round {again} on" if again > shown.round else "after the next round"
        rows.quiet(f"Tried {count(failed, 'time')}. Nothing was lost: its turns are below. It is tried again by itself {when}.")
    rows.key("r", "tries again now")
    rows.key("M", "lets another model answer the task collapse")
    rows.key("d", "discards it: then nothing comes of it")


def _under_way(rows: Rows, steps: "Sequence[CollapseStep]") -> None:
    rows.head("It is being collapsed")
    if not steps:
        rows.quiet("What it comes to is written between two rounds. Words that come meanwhile begin the next session.")
        rows.key("r", "begins it anew when it was given up: when a cap was reached, and raised since")
    for number, step in enumerate(steps):
        done = number < len(steps) - 1
        note = f"  {plain(step.note)}" if step.note else ""
        body = Content.assemble((STAGES[step.step], ".deed" if done else ".candidate"), (note, ".quiet"))
        rows.row(body, lead=Content.styled("✓ " if done else "… ", ".good" if done else ".candidate"))


def _turns(rows: Rows, page: "SessionPage") -> None:
    rows.head(f"Turns ({len(page.turns)})" if page.turns else "Turns")
    if not page.turns:
        rows.quiet("None yet. They come with the words of the two; t adds one by hand.")
    for line in page.turns:
        rows.made.append(turn_row(line))


def turn_row(line: "TurnLine") -> Row:
    """One turn: who, what, with its pin and hint."""
    turn = line.turn
    parts: list[Content] = []
    if turn.role == "note":
        parts.append(Content.styled(plain(line.text), ".thought"))
    else:
        words = "\n".join(paragraphs(line.text))
        parts.append(Content.assemble((f"{plain(line.speaker)}: ", ".name"), (words, ".speech" if turn.role == "actor" else ".deed")))
    if turn.hint:
        parts.append(Content.styled(f"↳ {_HINTS.get(turn.hint, plain(turn.hint))}", ".quiet"))
    sign = PIN_HAND if turn.pinned else "·" if turn.role == "note" else SPEECH
    lead = Content.styled(f"{sign} ", ".candidate" if turn.pinned else ".quiet")
    return Row(Content("\n").join(parts), lead=lead, tail=Content.styled(plain(line.when), ".quiet"), key=TURN + turn.id)


def _runs(rows: Rows, page: "SessionPage", shown: Shown) -> None:
    for line in reversed(page.runs):
        run_rows(rows, page, line, shown.open_folds, last=line is page.runs[-1])


def _memories(rows: Rows, page: "SessionPage") -> None:
    if not page.episode:
        return
    rows.head("Memories of it")
    for one in page.episode:
        body = Content.assemble((plain(one.text), ".deed"), (f"  {plain(one.when)}", ".quiet"))
        rows.row(body, lead=Content.styled("≡ ", ".quiet"))


_MODES: Mapping[str, str] = {
    "auto": "It ends by itself", "explicit": "Only a word ends it", "hybrid": "It ends by itself, or by a word",
}


def _policy(rows: Rows, policy: "CollapsePolicy") -> None:
    rows.head("Policy")
    ends = "" if policy.mode == "explicit" else (
        f": after {policy.inactivity_timeout / 60:.3g} minutes without a word, {policy.max_turns} turns or {policy.max_tokens:,} tokens"
    )
    rows.quiet(f"{_MODES[policy.mode]}{ends}.")
    asks = "a pin is needed for a model to be asked" if policy.require_pin else (
        f"a model is asked from recurrence {policy.recurrence_threshold:g} on, or for a pin"
        if policy.skip_llm_if_below_threshold else "a model is asked whatever recurs"
    )
    rows.quiet(f"Fewer than {count(policy.min_turns, 'turn')} are trivial; {asks}.")
    wanted = {
        "facts": policy.extract_facts, "decisions": policy.extract_decisions, "strategies": policy.extract_strategies,
        "next steps": policy.extract_tasks,
    }
    kept = [name for name, on in wanted.items() if on]
    rows.quiet(f"Taken from it: {', '.join(kept) if kept else 'goal and outcome only'}.")
