"""The thin lines around the panes: which world and when, which panes there are, what has just happened."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from engine.events import Embedding
from engine.records.models import CapState
from tui.calls import short_model
from tui.figures import cost, nearest, percent, short_tokens
from tui.glyphs import CANDIDATE, REFUSED
from tui.host import date_words
from tui.panes.pane import bar
from tui.text import count, plain
from tui.view import Note, WorldView

_NAMELESS = 2
"""The last ways to say what stands at the right end of the top: they do not say who speaks."""


class Line(Widget):
    """One line of text."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Line { height: 1; width: 1fr; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"
    view: reactive[WorldView] = reactive(WorldView(), repaint=False)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._drawn = Content("")

    @abstractmethod
    def line(self) -> Content:
        """What the line says now."""

    def watch_view(self) -> None:
        """Paint when the line says something else, not at every change of the view."""
        if self.is_attached and not self._drawn.is_same(self.line()):
            self.refresh()

    def render(self) -> Content:
        """The line."""
        self._drawn = self.line()
        return self._drawn

    def spread(self, left: Content, right: Content) -> Content:
        """Left and right part; the left one gives way when there is no room for both."""
        room = self.content_size.width - right.cell_length
        if left.cell_length > room - 2:
            left = left.truncate(max(room - 2, 0), ellipsis=True)
        return Content.assemble(left, " " * max(room - left.cell_length, 0), right)


class TopBar(Line):
    """World, clock and round on the left; who plays, who speaks for the others and what that has taken on the right."""

    def watch_view(self) -> None:
        """Paint what has changed, and say on demand what there is no room for."""
        super().watch_view()
        if (told := Content("\n").join(Content(line) for line in in_full(self.view))) != self.tooltip:
            self.tooltip = told

    def line(self) -> Content:
        """The line. Where there is no room for all of it, what was taken is said shorter, then the left part, then who speaks."""
        world = self.view.world
        if world is None:
            return Content("")
        date, clock = date_words(world.now), f"{world.now:%H:%M}"
        lefts = [self._left(name, when) for name, when in ((world.name, date), (world.name, clock), ("", date), ("", clock))]
        rights, room = self._rights(), self.content_size.width - 2
        tried = ((lefts[1], rights[:-_NAMELESS]), (lefts[3], rights[:-_NAMELESS]), (lefts[1], rights[-_NAMELESS:]))
        right = next((one for left, some in tried for one in some if one.cell_length + left.cell_length <= room), rights[-1])
        return self.spread(next((left for left in lefts if left.cell_length + right.cell_length <= room), lefts[-1]), right)

    def _rights(self) -> list[Content]:
        """What stands at the right end, and shorter ways to say it. Who speaks goes last."""
        who = f"playing {plain(self.view.name(self.view.played))}" if self.view.played else "watching"
        state = (" · running", ".key") if self.view.running else ("", "")
        asks = (" · asks first", ".candidate") if self.view.review else ("", "")
        holds = (" · holds calls", ".candidate") if self.view.asks else ("", "")
        tape = (" · ● rec", ".bad") if self.view.recording else ("", "")
        spent, cap = self.view.spent, nearest(self.view.caps)
        whole, short, least = speakers(self.view)
        tokens = [f" · {spent.tokens:,} tokens", f" · {short_tokens(spent.tokens)}"] if spent.calls else ["", ""]
        sums = [f" · {cost(spent, long=True)}", f" · {cost(spent)}"] if spent.cost or spent.unpriced else ["", ""]
        gauges = [_gauge(cap, long=True), _gauge(cap, long=False)]
        tails = (
            (whole, tokens[0], sums[0], gauges[0]), (short, tokens[0], sums[0], gauges[0]), (short, tokens[1], sums[0], gauges[0]),
            (short, tokens[1], sums[1], gauges[1]), (least, tokens[1], sums[1], gauges[1]), (least, "", sums[1], gauges[1]),
            (least, "", "", gauges[1]), (least, "", "", Content("")), ("", "", "", gauges[1]), ("", "", "", Content("")),
        )
        head = Content.assemble((who, ".deed"), state, asks, holds, tape)
        style = ".candidate" if self.view.away else ".quiet"
        return [
            Content.assemble(head, (f" · {name}" if name else "", style), (used + paid, ".quiet"), gauge)
            for name, used, paid, gauge in tails
        ]

    def _left(self, name: str, when: str) -> Content:
        """World, world time and round. At its shortest the round comes first: it is what one looks for."""
        number = self.view.world.round if self.view.world else 0
        parts = [(plain(name), ".head"), (when, ".deed"), (f"round {number}", ".quiet")]
        return Content("   ").join(Content.styled(text, style) for text, style in parts if text)


def speakers(view: WorldView) -> tuple[str, str, str]:
    """Who speaks, and who does other tasks, in full, shorter, and as short as can be: `storyteller (openai/x is away)`."""
    model, away = plain(view.speaker), plain(view.away)
    short = short_model(model)
    whole, middle = (f"{model} ({away} is away)", f"{short} ({short_model(away)} is away)") if away else (model, short)
    least = middle if away else short
    by: dict[str, list[str]] = {}
    for task, name in view.others.items():
        by.setdefault(name, []).append(task)
    if len(by) == 1:
        [(name, tasks)] = by.items()
        what = tasks[0] if len(tasks) == 1 else count(len(tasks), "task")
        return f"{whole}, {what} by {plain(name)}", f"{middle}, {what} by {short_model(name)}", least
    others = f", {count(len(view.others), 'task')} by others" if by else ""
    return whole + others, middle + others, least


def in_full(view: WorldView) -> list[str]:
    """Who answers which tasks, and where calls are recorded, a line each."""
    if not view.speaker:
        return []
    instead = f" instead of {plain(view.away)}, which is away" if view.away else ""
    lines = [f"{plain(view.speaker)} speaks for the characters{instead}."]
    lines += [f"{task}: {plain(name)}" for task, name in view.others.items()]
    return [*lines, *([f"All calls are recorded on {plain(view.recording)}."] if view.recording else [])]


def _gauge(cap: CapState | None, *, long: bool) -> Content:
    """How far the cap that is nearest is used up."""
    if cap is None:
        return Content("")
    style = ".bad" if cap.share >= 1 else ".candidate" if cap.share >= 0.8 else ".quiet"
    words = f" cap {percent(cap.share)}"
    if not long:
        return Content.styled(f" ·{words}", style)
    return Content.assemble((" · ", ".quiet"), bar(cap.share, 8, ".candidate" if cap.share >= 0.8 else ".bar"), (words, style))


class PaneBar(Line):
    """The panes with their number keys, where not all of them are in sight. News in a hidden one is counted."""

    shown: reactive[frozenset[str]] = reactive(frozenset())
    news: reactive[Mapping[str, int]] = reactive(dict)

    def __init__(self, panes: Sequence[tuple[str, int, str]]) -> None:
        super().__init__(id="pane-bar")
        self._panes = panes

    def line(self) -> Content:
        """Those in sight stand in brackets, not only in colour."""
        parts: list[Content] = []
        room = self.content_size.width
        tight = sum(cell_len(title) + 6 for _, _, title in self._panes) > room
        for key, number, title in self._panes:
            here = key in self.shown
            news = self.news.get(key, 0)
            label = f"[{number} {title}]" if here else f" {number} {title} "
            parts.append(Content.styled(label, ".key" if here else ".quiet"))
            if news and not here:
                parts.append(Content.styled(f"+{news}", ".good"))
            if not tight:
                parts.append(Content(" "))
        return Content("").join(parts)


class StatusLine(Line):
    """What has just happened, or what is wrong. What stands at its right end gives way to a long note."""

    mind_shown: reactive[bool] = reactive(True)
    """Whether the pane of the mind is in sight."""

    busy: reactive[str] = reactive("", repaint=False)
    """What takes its time: a call, the loading of a library. It stands before all else at the right end, and a note gives way to it."""
    held: reactive[int] = reactive(0, repaint=False)
    """Calls that wait for the reader's word, and are not shown."""

    def watch_busy(self) -> None:
        """Paint this line, and nothing else."""
        self.watch_view()

    def watch_held(self) -> None:
        """Paint this line, and nothing else."""
        self.watch_view()

    def line(self) -> Content:
        """The note, with a sign before good and bad ones, or what is said of a model while that matters; a way to what happens out of
        sight."""
        note, room = self._note(), self.content_size.width - 2
        rights = [urgent] if (urgent := self._urgent()) else self._rights()
        fitting = (right for right in rights if urgent or right.cell_length <= room - note.cell_length)
        return self.spread(note, next(fitting, Content("")))

    @property
    def cut(self) -> bool:
        """Whether there is no room for the whole note."""
        urgent = self._urgent()
        return self._note().cell_length > self.content_size.width - (urgent.cell_length + 2 if urgent else 0)

    def _note(self) -> Content:
        about = self.view.model_note
        return Content.styled(f"… {plain(about.text)}", ".candidate") if about is not None else said(self.view.note)

    def _urgent(self) -> Content:
        """What a note gives way to."""
        if self.held:
            what = "a call waits for your word: " if self.held == 1 else f"{self.held} calls wait for your word: "
            return Content.assemble((what if self.content_size.width >= 100 else "held: ", ".candidate"), ("f4", ".key"))
        return Content.styled(self.busy, ".candidate") if self.busy else Content("")

    def _rights(self) -> list[Content]:
        """What stands at the right end, and shorter ways to say it."""
        mind, waiting = self.view.mind, len(self.view.waiting)
        if mind.judging and not self.mind_shown:
            return [Content.assemble(("4", ".key"), (" shows it", ".quiet"))]
        if waiting or self.view.flagged:
            kinds = (
                (waiting, "v", "proposal waits", "proposals wait"),
                (self.view.flagged, "K", "piece of knowledge waits", "pieces of knowledge wait"),
            )
            told = [(key, number, count(number, one, many)) for number, key, one, many in kinds if number]
            return [
                Content("  ").join(_waits(words if long else f"{number}", key) for key, number, words in told) for long in (True, False)
            ]
        if self.view.embedding is not None:
            return [Content.styled(embedding_words(self.view.embedding, long), ".quiet") for long in (True, False)]
        if self.view.chosen and mind.lines and self.content_size.width >= 110:
            number = count(len(mind.lines), "entry", "entries")
            return [Content.styled(f"{plain(self.view.name(self.view.chosen))}: {number} in mind", ".quiet")]
        return []


def _waits(words: str, key: str) -> Content:
    """Something that waits for the reader's word, and the key to it."""
    return Content.assemble((f"{CANDIDATE} {words} ", ".candidate"), (key, ".key"))


def embedding_words(event: Embedding, long: bool) -> str:
    """How far the job has come that embeds memories for another model."""
    done = f"{event.done:,} of {event.total:,}"
    return f"Memories are being embedded for {plain(event.model)}: {done}" if long else f"embedding {done}"


def said(note: Note) -> Content:
    """A note, good and bad ones with a sign before them."""
    sign = {"plain": "", "good": "✓ ", "bad": f"{REFUSED} "}[note.kind]
    return Content.styled(sign + plain(note.text), {"plain": ".quiet", "good": ".good", "bad": ".bad"}[note.kind])
