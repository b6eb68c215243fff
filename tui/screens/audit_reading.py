"""What the Audit screen reads and how it follows play: rows by page, those that came since, the history of a piece."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual import getters, on, work
from textual.content import Content
from textual.widgets import Input, Static

from engine.errors import OthermindsError, SessionError
from engine.records.base import EntityId
from engine.records.knowledge import AuditAction, Cause, KnowledgeId
from engine.records.sessions import SessionId
from tui.host import GameHost
from tui.panes.audit import EMPTY, AuditFilter, detail_of, history_of, holds, key_of, row_of
from tui.panes.rows import Row, RowList
from tui.panes.sessions import StillList
from tui.screens.following import FollowingScreen
from tui.text import capital, plain

if TYPE_CHECKING:
    from engine.events import EngineEvent
    from engine.knowledge_views import AuditLine

_PAGE = 200
_READ = 500
"""Rows that are read at once while words are looked for."""
_TELL = 2_000
"""Rows after which it is told how far the search has come."""
_MORE = "more"


class AuditReadingScreen(FollowingScreen):
    """Holds what was read. What it is drawn on and which keys there are is its subclass's matter."""

    STIRRING = frozenset({
        "sessions_changed", "session_collapsed", "knowledge_changed", "promotion_committed", "factions_changed", "history_moved",
    })
    NOTE = "#audit-note"
    entries = getters.query_one("#audit", StillList)
    detail = getters.query_one("#audit-detail", RowList)
    words = getters.query_one("#filter", Input)

    def __init__(self, host: GameHost, knowledge: KnowledgeId = "", session: str = "", owner: EntityId = "") -> None:
        """Only rows of this piece, this session or this mind are shown first; esc shows all."""
        super().__init__(host)
        self.wanted = AuditFilter(knowledge=knowledge, session=session, owner=owner)
        self.came = self.wanted
        self.lines: list[AuditLine] = []
        self._below: int | None = None
        """The number of the row below which nothing was looked at yet; None when all was."""
        self._newest: int | None = None
        """The number of the newest row that fits, whatever its words; None before anything was read."""
        self.history_of: KnowledgeId = ""
        self.whom: dict[SessionId, str] = {}
        """With whom the owner of a row has the session that it speaks of, as far as that is known."""
        self._made: dict[str, tuple[object, Row]] = {}

    def hear(self, event: "EngineEvent") -> None:
        """What was taken back may have taken rows with it."""
        if event.kind == "history_moved":
            self._newest = None

    # reading

    async def refresh_reading(self) -> None:
        """Read what is new above, or the first page when nothing was read yet. When rows are gone, undone, all is read anew."""
        asked = self._asked()
        fresh = None if self._newest is None else await self._above(self._newest)
        page = await self._page(None) if fresh is None else None
        if asked != self._asked():  # the reader has asked for something else meanwhile: that is read next
            self._newest = None
            self.start_reading()
            return
        if page is not None:
            self.lines, self._below = page
        else:
            self.lines = [*(fresh or ()), *self.lines]
        self.show_list()
        await self._find_whom()

    async def _above(self, newest: int) -> "list[AuditLine] | None":
        """Rows that came since and fit; None when rows have gone meanwhile."""
        fresh: list[AuditLine] = []
        before: int | None = None
        while True:
            rows = await self._rows(before, _PAGE)
            if before is None:
                self._newest = rows[0].row.seq if rows else 0
                if self._newest < newest:
                    return None
            fresh += [line for line in rows if line.row.seq > newest and self._fits(line)]
            if len(rows) < _PAGE or rows[-1].row.seq <= newest:
                return fresh
            before = rows[-1].row.seq

    async def _page(self, before: int | None) -> "tuple[list[AuditLine], int | None]":
        """The next rows that fit, and where to go on; None when there are no more. It stops short when something else is asked for."""
        found: list[AuditLine] = []
        asked, looked = self._asked(), 0
        size = _READ if self.words.value.split() else _PAGE
        while len(found) < _PAGE and asked == self._asked():
            rows = await self._rows(before, size)
            if before is None:
                self._newest = rows[0].row.seq if rows else 0
            found += [line for line in rows if self._fits(line)]
            looked += len(rows)
            if len(rows) < size:
                before = None
                break
            before = rows[-1].row.seq
            if looked % _TELL == 0:
                self.say(f"Looking: {looked:,} rows so far, {len(found):,} fit.")
        if looked >= _TELL:
            self.say(f"{looked:,} rows were looked at.")
        return found, before

    async def _rows(self, before: int | None, limit: int) -> "Sequence[AuditLine]":
        game, wanted = self.host.game, self.wanted
        if game is None:
            return ()
        return await game.knowledge.audit(
            owner=wanted.owner or None, knowledge=wanted.knowledge or None, session=wanted.session or None, run=wanted.run or None,
            actions={cast(AuditAction, wanted.action)} if wanted.action else (), causes={cast(Cause, wanted.cause)} if wanted.cause else (),
            first_round=wanted.first, last_round=wanted.last, before=before, limit=limit, viewer=game.played,
        )

    async def _find_whom(self) -> None:
        """Find out between whom the sessions are that rows speak of."""
        game = self.host.game
        missing = dict.fromkeys(key for line in self.lines if (key := line.row.session_id) is not None and key not in self.whom)
        if game is None or not missing:
            return
        for key in missing:
            try:
                session = await game.sessions.get(key)
            except SessionError:
                self.whom[key] = ""
            else:
                self.whom[key] = f"with {plain(game.name(session.actor_id, self.viewer_of(session.actor_id)))}"
        self.show_list()

    def _fits(self, line: "AuditLine") -> bool:
        words = self.words.value.casefold().split()
        return not words or holds(line, words)

    def _asked(self) -> tuple[object, ...]:
        return self.wanted, self.words.value if self.is_attached else ""

    @work(group="more", exclusive=True)
    async def read_more(self) -> None:
        """Read the next page below."""
        asked, at = self._asked(), self._below
        try:
            found, below = await self._page(at)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        if asked != self._asked() or at != self._below:
            return
        last = len(self.lines)
        self.lines += found
        self._below = below
        await self._find_whom()
        self.show_list()
        if self.lines:
            self.entries.cursor = key_of(self.lines[min(last, len(self.lines) - 1)])

    # showing

    def show_list(self) -> None:
        """The rows as they were read."""
        game = self.host.game
        if game is None or not self.alive:
            return
        made: dict[str, tuple[object, Row]] = {}
        for line in self.lines:
            key = key_of(line)
            said_of = (line, game.world.now, whom := self.whom.get(line.row.session_id or "", ""))
            known = self._made.get(key)
            made[key] = known if known is not None and known[0] == said_of else (said_of, row_of(line, game.world.now, whom))
        self._made = made
        rows = [row for _, row in made.values()]
        if rows and self._below is not None:
            rows.append(Row(Content.styled("more below", ".key"), key=_MORE))
        if not rows:
            text = "Nothing fits. esc shows all again." if self.filtered else EMPTY
            rows = [Row(Content.styled(plain(text), ".quiet"), lead=Content(" "))]
        self.entries.show(rows)
        self.entries.border_title = Content("Changes")
        self.entries.border_subtitle = Content(f"{len(self.lines):,}{'' if self._below is None else ' so far'}" if self.lines else "")
        self.entries.begin()
        self._head()
        self.describe()
        self.refresh_bindings()

    @property
    def filtered(self) -> bool:
        """Whether some are left out."""
        return self.wanted.any or (self.is_attached and bool(self.words.value))

    def _head(self) -> None:
        game = self.host.game
        owner = capital(game.name(self.wanted.owner, self.viewer_of(self.wanted.owner))) if game is not None and self.wanted.owner else ""
        told = self.wanted.words(owner) or "all changes to sessions and knowledge, newest first"
        head = Content.assemble(("Audit  ", ".head"), (told, ".key" if self.wanted.any else ".quiet"))
        self.query_one("#audit-head", Static).update(head, layout=False)

    def viewer_of(self, entity: EntityId) -> EntityId | None:
        """In whose names somebody is told: the player's own true name for itself."""
        played = self.host.game.played if self.host.game is not None else None
        return None if entity == played else played

    @property
    def under(self) -> "AuditLine | None":
        """The row under the cursor."""
        key = self.entries.cursor
        return next((line for line in self.lines if key_of(line) == key), None)

    @on(RowList.Moved, "#audit")
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.key == _MORE:
            self.read_more()
            return
        self.history_of = ""
        self.detail.cursor = ""
        self.detail.scroll_home(animate=False)
        self.describe()
        self.refresh_bindings()

    def describe(self) -> None:
        """Tell the row under the cursor in full, or the history that was asked for."""
        line, game = self.under, self.host.game
        if self.history_of:
            self.read_history()
            return
        self.detail.border_title = Content("In full")
        if line is None or game is None:
            self.detail.show([])
        else:
            self.detail.show(detail_of(line, game.world.now, self.whom.get(line.row.session_id or "", "")))

    @work(group="history", exclusive=True)
    async def read_history(self) -> None:
        """Read the history of a piece of knowledge and show it."""
        game, key = self.host.game, self.history_of
        if game is None:
            return
        try:
            past = await game.knowledge.history(key, game.played)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        if key == self.history_of and self.alive:
            self.detail.border_title = Content(f"History of {plain(key)}")
            self.detail.show(history_of(past, game.world.now))

    def look_for(self, wanted: AuditFilter, *, stay: bool = False) -> None:
        """Show these rows only, from the top; with `stay` on the row where one is, if it is among the newest of them."""
        self.wanted, self.lines, self._below, self._newest = wanted, [], None, None
        self.history_of = ""
        if not stay:
            self.entries.cursor = ""
        self.start_reading()
