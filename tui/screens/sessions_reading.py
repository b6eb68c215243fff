"""What the Sessions screen reads and how it follows play: lists by page, one session in full, collapses as they go."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.content import Content
from textual.widgets import Input, Static

from engine.errors import OthermindsError
from engine.records.base import EntityId
from engine.records.sessions import SessionId
from tui.host import GameHost
from tui.panes.rows import Row, RowList
from tui.panes.sessions import StillList, empty_words, gains, pair_words, row_of
from tui.panes.sessions_detail import Shown, detail_of
from tui.screens.following import FollowingScreen
from tui.text import capital, count, plain

if TYPE_CHECKING:
    from engine.events import CollapseStep, EngineEvent
    from engine.records.sessions import CollapseRun
    from engine.session_views import SessionLine, SessionPage
    from engine.storage.session_list import SessionState

PAGE = 100
MORE = "more"


class SessionsReadingScreen(FollowingScreen):
    """Holds what was read. What it is drawn on and which keys there are is its subclass's matter."""

    STIRRING = frozenset({
        "sessions_changed", "collapse_step", "session_collapsed", "knowledge_changed", "promotion_committed", "round_ended", "beat_ended",
        "alias", "memory_changed", "handoff_committed", "history_moved", "trouble",
    })
    NOTE = "#sessions-note"

    entries = getters.query_one("#sessions", StillList)
    detail = getters.query_one("#session-detail", StillList)
    words = getters.query_one("#filter", Input)

    def __init__(self, host: GameHost, agent: EntityId | None = None, session: SessionId | None = None) -> None:
        super().__init__(host)
        self.agent: EntityId | None = agent
        self.state: SessionState | None = None
        self.wanted = session
        """The session that the cursor is to be put on once it was read."""
        self.lines: list[SessionLine] = []
        self.counts: dict[EntityId, int] = {}
        """In how many sessions each one takes part."""
        self.total = 0
        self.page: SessionPage | None = None
        self.folds: set[str] = set()
        self.steps: dict[SessionId, list[CollapseStep]] = {}
        self._all = False
        """Whether there are no more below."""
        self._first = True
        self._made: dict[SessionId, tuple[object, Row]] = {}

    # following

    def hear(self, event: "EngineEvent") -> None:
        """Keep what a collapse is at, and say what it came to."""
        if event.kind == "collapse_step":
            begun = [] if event.step == "guard" else self.steps.get(event.session_id, [])
            self.steps[event.session_id] = [*begun, event]
        elif event.kind == "session_collapsed":
            self.steps.pop(event.run.session_id, None)
            self.call_later(self._collapsed, event.run)
        elif event.kind == "trouble":  # a cap was reached, or the save cannot be written: what was begun has been given up
            self.steps.clear()
        elif event.kind == "history_moved":  # what was read may never have been
            self.lines = []

    def _collapsed(self, run: "CollapseRun") -> None:
        """Say what a collapse came to."""
        game = self.host.game
        if game is None:
            return
        line = next((line for line in self.lines if line.session.id == run.session_id), None)
        if line is None and self.agent not in (None, run.agent_id):
            return
        name = game.name(run.agent_id, None if run.agent_id == game.played else game.played)
        who = pair_words(line) if line is not None else f"A session of {plain(name)}"
        if run.status == "failed":
            self.say(f"{who} could not be collapsed: {run.error} Nothing was lost; r on it tries again.", "bad")
        elif run.status == "skipped":
            self.say(f"{who} has ended, and no model was asked: {run.gate.reason}.")
        else:
            what = "its older part was collapsed" if run.partial else "collapsed"
            self.say(f"{who}: {what}, {gains(run.added, run.merged, run.retired)}.", "good")

    # reading

    async def refresh_reading(self) -> None:
        """The newest page anew, with those below it as they were, and the session under the cursor."""
        game = self.host.game
        if game is None:
            return
        asked = self._asked()
        fresh = await self._find(None)
        counts, total = await game.sessions.parts(), sum((await game.sessions.counts()).values())
        if asked != self._asked():  # the reader has asked for something else meanwhile: that is read next
            self.start_reading()
            return
        self.counts, self.total = dict(counts), total
        known = {line.session.id for line in fresh}
        if len(fresh) < PAGE:
            self.lines, self._all = list(fresh), True
        else:
            last = _number(fresh[-1].session.id)
            below = [line for line in self.lines if line.session.id not in known and _number(line.session.id) < last]
            self.lines, self._all = [*fresh, *below], self._all and bool(below)
        await self._reach()
        self.show_list()
        await self._read_page()

    async def _reach(self) -> None:
        """Read on as far as the session that the cursor is to be put on first."""
        while self._first and self.wanted and not self._all and self.wanted not in {line.session.id for line in self.lines}:
            if _number(self.wanted) > _number(self.lines[-1].session.id):
                return
            below = await self._find(self.lines[-1].session.id)
            self.lines += below
            self._all = len(below) < PAGE

    def _asked(self) -> tuple[object, ...]:
        return self.agent, self.state, self.words.value if self.is_attached else ""

    async def _find(self, before: SessionId | None) -> "Sequence[SessionLine]":
        game = self.host.game
        if game is None:
            return ()
        return await game.sessions.lines(
            party=self.agent, state=self.state, words=self.words.value.split(), before=before, limit=PAGE, viewer=game.played,
        )

    @work(group="more", exclusive=True)
    async def read_more(self) -> None:
        """Read the next page below."""
        asked, last = self._asked(), self.lines[-1].session.id if self.lines else None
        try:
            below = await self._find(last)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        if asked != self._asked() or not self.lines or self.lines[-1].session.id != last:
            return
        self._all = len(below) < PAGE
        self.lines += below
        self.show_list()
        self.entries.cursor = below[0].session.id if below else last or ""

    @work(group="page", exclusive=True)
    async def read_page(self) -> None:
        """Read the session under the cursor."""
        try:
            await self._read_page()
        except OthermindsError as error:
            self.say(str(error), "bad")

    async def _read_page(self) -> None:
        game, key = self.host.game, self.entries.cursor
        if game is None or key in ("", MORE):
            self.page = None
            self.show_page()
            return
        page = await game.sessions.page(key, game.played)
        if self.entries.cursor != key or not self.alive:
            return
        self.page = page
        self.lines = [page.line if line.session.id == key else line for line in self.lines]
        self.show_list()
        self.show_page()

    # showing

    def show_list(self) -> None:
        """The list as it was read."""
        if not self.alive:
            return
        made: dict[SessionId, tuple[object, Row]] = {}
        for line in self.lines:
            key = line.session.id
            stage = self.steps[key][-1].step if self.steps.get(key) else None
            said_of = (line, stage)
            known = self._made.get(key)
            made[key] = known if known is not None and known[0] == said_of else (said_of, row_of(line, stage))
        self._made = made
        rows = [row for _, row in made.values()]
        if rows and not self._all:
            rows.append(Row(Content.styled("more below", ".key"), key=MORE))
        if not rows:
            rows = [Row(Content.styled(self._why_empty(), ".quiet"), lead=Content(" "))]
        self.entries.show(rows)
        if self._first:
            self._first = False
            self.entries.cursor = self.wanted if self.wanted in made else next(iter(made), "")
        title = "Sessions" + (f" · {self.state} only" if self.state else "")
        self.entries.border_title = Content(title)
        self.entries.border_subtitle = Content(f"{len(self.lines):,}{'' if self._all else ' so far'}" if self.lines else "")
        self.head()
        self.refresh_bindings()

    def _why_empty(self) -> str:
        """Why the list is empty, and what would fill it."""
        game = self.host.game
        if game is None or self.state or self.words.value or (self.counts.get(self.agent or "") if self.agent else self.total):
            return "No session fits. esc shows all again."
        played = game.name(game.played) if game.played else ""
        who = game.name(self.agent, None if self.agent == game.played else game.played) if self.agent else ""
        return empty_words(game.policies.sessions.pairs, played, who, self.total)

    @property
    def filtered(self) -> bool:
        """Whether some are left out."""
        return bool(self.agent or self.state or (self.is_attached and self.words.value))

    def head(self) -> None:
        """Whose sessions, as many of them as fit, the present one among them."""
        game = self.host.game
        if game is None:
            return
        tabs = self.tabs()
        labels = []
        for agent in tabs:
            name = "Everybody" if agent is None else capital(plain(game.name(agent, None if agent == game.played else game.played)))
            number = self.total if agent is None else self.counts.get(agent, 0)
            labels.append(f"{name} {number:,}")
        here = tabs.index(self.agent) if self.agent in tabs else 0
        start = 0
        room = max(self.size.width - 14, 20)
        while start < here and sum(len(label) + 2 for label in labels[start : here + 1]) > room:
            start += 1
        parts = [Content.styled("Sessions  ", ".head"), Content.styled("‹ " if start else "", ".quiet")]  # noqa: RUF001 - a sign
        for number, label in enumerate(labels[start:], start):
            parts.append(Content.styled(f"[{label}]" if number == here else f" {label} ", ".key" if number == here else ".quiet"))
        self.query_one("#sessions-head", Static).update(Content("").join(parts), layout=False)

    def tabs(self) -> list[EntityId | None]:
        """Everybody, then each agent who takes part in sessions or is looked at, in order of acting."""
        game = self.host.game
        agents = [agent.id for agent in game.world.agents()] if game is not None else []
        return [None, *(agent for agent in agents if agent in self.counts or agent == self.agent)]

    def show_page(self) -> None:
        """The session under the cursor, in full."""
        if not self.alive:
            return
        game, page = self.host.game, self.page
        if game is None or page is None:
            self.detail.border_title, self.detail.border_subtitle = Content("In full"), Content("")
            self.detail.show([])
            return
        key = page.line.session.id
        shown = Shown(game.world.round, self.steps.get(key, ()), frozenset(self.folds))
        at_end = 0 < self.detail.max_scroll_y <= self.detail.scroll_offset.y
        self.detail.border_title = Content(f"In full · {pair_words(page.line)}" if self.size.width >= 100 else "In full")
        self.detail.border_subtitle = Content(count(len(page.turns), "turn") if page.turns else "")
        self.detail.show(detail_of(page, shown))
        if at_end and self.detail.cursor in ("", *self.detail.keys[-1:]):
            self.call_after_refresh(partial(self.detail.scroll_end, animate=False))

    @on(RowList.Moved, "#sessions")
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.key == MORE:
            self.read_more()
            return
        self.detail.cursor = ""
        self.detail.scroll_home(animate=False)
        self.read_page()
        self.refresh_bindings()

    @on(RowList.Moved, "#session-detail")
    def _moved_within(self, event: RowList.Moved) -> None:
        event.stop()
        self.refresh_bindings()


def _number(session: SessionId) -> int:
    """The number of a session: newer ones have higher ones."""
    return int(session.rpartition("-")[2])
