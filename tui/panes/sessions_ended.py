"""What became of a session: the summary in full, the gate's numbers, what was cut, what became knowledge, the call itself."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.figures import short_tokens
from tui.panes.pane import bar
from tui.panes.rows import Row
from tui.panes.sessions import REASONS, gains
from tui.text import capital, count, paragraphs, plain

if TYPE_CHECKING:
    from engine.records.sessions import GateReport, SessionCollapseSummary
    from engine.session_views import Became, RunLine, SessionPage

NOTE, TURN, KNOWN, FOLD = "note ", "turn ", "known ", "fold "
"""What keys of rows begin with that something can be done with."""
_OUTCOMES = {
    "resolved": "what it was about was settled", "partial": "settled in part", "abandoned": "left open",
    "delegated": "handed to somebody else",
}
_GAUGE = 14
_DID = {"added": "learned", "merged": "merged", "retired": "retired", "flagged": "waits for a person", "updated": "brought up to date"}


class Rows:
    """Rows under headings. What says something gets a key of its own, stable while what stands above it stays."""

    def __init__(self) -> None:
        self.made: list[Row] = []
        self._at, self._number = "", 0
        self._heads: dict[str, int] = {}

    def head(self, text: str) -> None:
        """A heading, with air above it."""
        if self.made:
            self.made.append(Row(Content("")))
        self.made.append(Row(Content.styled(text, ".head"), lead=Content(" ")))
        name = text.split(" (")[0]
        self._heads[name] = self._heads.get(name, 0) + 1
        self._at, self._number = f"{name}/{self._heads[name]}", 0

    def row(self, body: Content, *, lead: Content | None = None, tail: Content | None = None, key: str = "") -> None:
        """One row."""
        self._number += 1
        self.made.append(Row(body, lead=lead or Content(" "), tail=tail or Content(""), key=key or f"{self._at}/{self._number}"))

    def text(self, text: str, style: str = ".deed", lead: str = "") -> None:
        """Words."""
        self.row(Content.styled(plain(text), style), lead=Content.styled(f" {lead}", ".quiet"))

    def quiet(self, text: str) -> None:
        """Words about it."""
        self.text(text, ".quiet")

    def key(self, key: str, does: str) -> None:
        """A key and what it does."""
        self.row(Content.assemble((key, ".key"), (f"  {does}", ".quiet")))


def run_rows(rows: Rows, page: "SessionPage", line: "RunLine", open_folds: Collection[str], *, last: bool) -> None:
    """One collapse, in full."""
    run, summary = line.run, line.summary
    titles = {"committed": "What stays of it", "skipped": "What became of it", "failed": "A try that failed"}
    title = f"Part {run.part + 1}, collapsed in round {run.round}" if run.partial and run.status != "failed" else titles[run.status]
    rows.head(title if last or run.partial else f"{title}, round {run.round}")
    if run.status == "failed":
        rows.row(Content.styled(plain(run.error), ".bad"), lead=Content.styled("! ", ".bad"))
    if summary is not None:
        _summary(rows, line, summary)
    if last and page.became:
        _became(rows, page.became)
    _gate(rows, run.gate, run.status)
    _listed(rows, "Cut before anybody read it: it gave orders", line.cut, ".bad")
    _listed(rows, "Notes of the collapse", line.notes, ".quiet")
    _call(rows, line, open_folds)


def _summary(rows: Rows, line: "RunLine", summary: "SessionCollapseSummary") -> None:
    run = line.run
    rows.text(summary.goal)
    why = f"collapsed because {REASONS[summary.collapse_reason]}"
    if run.status == "skipped":
        rows.quiet(f"{capital(why)}, round {run.round}, {plain(line.when)}.")
    else:
        rows.row(Content.assemble((summary.outcome, ".good"), (f", {_OUTCOMES[summary.outcome]}; {why}, round {run.round}", ".quiet")))
    pins = f"{count(summary.pins_used, 'pin')} used" if summary.pins_used else "no pins"
    used = f"{summary.llm_tokens_used:,} tokens of a model" if summary.llm_tokens_used else "no model was asked"
    rows.quiet(f"{count(summary.turns_processed, 'turn')} processed · {pins} · {used}")
    if summary.facts:
        rows.head(f"Facts ({len(summary.facts)})")
        for fact in summary.facts:
            topic = f" · {plain(fact.topic_key)}" if fact.topic_key else ""
            rows.row(_statement(fact.content, f"sure {fact.confidence:.2f}{topic}"))
    if summary.decisions:
        rows.head(f"Decisions ({len(summary.decisions)})")
        for made in summary.decisions:
            over = f"instead of: {plain(made.supersedes)}" if made.supersedes else ""
            because = f"because {_uncapital(plain(made.rationale))}" if made.rationale else ""
            rows.row(_statement(made.content, "\n".join(part for part in (because, over) if part)))
    if summary.strategies:
        rows.head(f"Strategies ({len(summary.strategies)})")
        for way in summary.strategies:
            rows.row(_statement(f"{plain(way.trigger).rstrip('.:')}: {plain(way.action)}", plain(way.context)))
    _listed(rows, "Discoveries", summary.discoveries)
    _listed(rows, "Next steps: tasks of their next session", summary.next_steps, lead="□ ")
    if line.people:
        rows.head("Whom it concerns")
        rows.text(", ".join(plain(name) for name in line.people))


def _statement(text: str, about: str) -> Content:
    return Content.assemble((plain(text), ".deed"), (f"\n{about}" if about else "", ".quiet"))


def _became(rows: Rows, became: "Sequence[Became]") -> None:
    rows.head(f"What became knowledge ({len(became)})")
    for one in became:
        did = ", then ".join(_DID.get(action, action) for action in one.did)
        state = "" if one.there and one.holds else ", believed no longer" if one.there else ", no longer there"
        body = Content.assemble((plain(one.text), ".deed"), (f"\n{did}{state} · {plain(one.knowledge_id)}", ".quiet"))
        rows.row(body, lead=Content.styled("→ ", ".key"), key=KNOWN + one.knowledge_id)
    rows.quiet("enter on one goes to it.")


def _gate(rows: Rows, gate: "GateReport", status: str) -> None:
    rows.head("The gate: was a model worth asking?")
    if status == "failed" and gate.reason == "not assessed":
        rows.quiet("It failed before it came to that.")
        return
    rows.row(Content.assemble(("A model was asked: " if gate.asked else "No model was asked: ", ".name"), (plain(gate.reason), ".deed")))
    weighed = gate.recurrence > 0 or "threshold" in gate.reason
    body = Content.assemble(
        bar(gate.recurrence, _GAUGE, ".good" if gate.recurrence >= gate.threshold else ".bar"),
        (f" recurrence {gate.recurrence:.2f}, threshold {gate.threshold:g}" if weighed else
         f" recurrence was not weighed; the threshold is {gate.threshold:g}", ".deed"),
    )
    rows.row(body)
    rows.quiet(f"Turns that tell something: {gate.telling} of {gate.turns}. Pins: {gate.pinned}.")


def _call(rows: Rows, line: "RunLine", open_folds: Collection[str]) -> None:
    run = line.run
    if not run.prompt and not run.reply:
        return
    rows.head("The call")
    rows.quiet(f"{plain(run.model) or 'a model'} · {plain(run.template)} · {plain(run.id)}")
    if run.status == "committed":
        rows.quiet(capital(gains(run.added, run.merged, run.retired)) + ".")
    for name, text in (("prompt", run.prompt), ("reply", run.reply)):
        if not text:
            continue
        key = f"{FOLD}{run.id} {name}"
        shut = key not in open_folds
        words = Content.assemble((capital(name), ".key"), (f"  {short_tokens(len(text))} characters", ".quiet"))
        rows.row(words, lead=Content.styled(f"{'▸' if shut else '▾'} ", ".key"), key=key)
        if not shut:
            for part in paragraphs(text):
                rows.row(Content.styled(part, ".quote" if name == "reply" else ".deed"), lead=Content("   "))


def _listed(rows: Rows, title: str, texts: Sequence[str], style: str = ".deed", lead: str = "") -> None:
    if texts:
        rows.head(title)
        for text in texts:
            rows.text(text, style, lead)


def _uncapital(text: str) -> str:
    """For the middle of a sentence; names and `I` keep their capital, as far as that can be told."""
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first.lower() in ("the", "a", "an", "it", "he", "she", "they", "there", "this", "that") else text
