"""Knowledge: who knows what, since when and from where; what waits for a word; what was believed at an earlier round."""

from dataclasses import replace
from typing import cast

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from engine.knowledge_views import AuditLine, BeliefLine, ReviewLine
from engine.records.knowledge import KnowledgeKind, Term, Tier
from tui.dialogs.knowledge_choice import Pick, PickDialog
from tui.dialogs.knowledge_only import OnlyDialog
from tui.glyphs import CANDIDATE
from tui.keybar import KeyBar
from tui.panes.filter import FilterLine
from tui.panes.known import ORDER, SHELVES, KnownList, Shelf, key_of
from tui.panes.known_ask import AskBox
from tui.panes.known_detail import words_of
from tui.panes.known_reading import Only, State
from tui.panes.known_whose import WhoseList, key_of_whose, picks_of, whose_of
from tui.panes.paragraphs import gap, head, keys, quiet, text
from tui.panes.rows import STYLES, Row, RowList
from tui.screens.knowledge_deciding import DecidingScreen
from tui.text import plain

_WIDE, _BROAD = 100, 160
_HELPS: dict[Shelf, str] = {
    "known": """\
What people know, the newest first. **w** chooses whose: somebody's, a faction's, everybody's, or all there is. **/** searches,
**o** shows only facts, decisions or strategies, one tier, what is short-term, what has ended or is no more; **esc** shows all again.

Somebody knows what is its own, what its factions hold and what everybody does. A piece is *short-term* until promotion has looked at it
(**P** does so now; **r** takes a promotion back). What is not used sinks from hot to warm, cold and archived; **p** pins it.

**+** writes a piece, **e** changes it, **d** takes it away, **b** brings back what has ended, sunk or gone. **s** says who holds it, and
who would come to know it; **F** who is in which faction. **enter** goes to the text beside, where **b** brings an earlier wording back.
**u** takes back whatever was done last, **U** brings it again.
""",
    "review": """\
What promotion did not decide alone, because it is sensitive, or stands against what others hold already. Each says why it waits, what
it would become, and who would come to know it.

**a** approves, **e** changes the words and approves, **x** rejects: it is believed no longer. **n** leaves it to its owner alone, **s**
chooses who shall hold it instead. All of it can be taken back: see the piece in Known.
""",
    "asked": AskBox.HELP,
}


class KnowledgeScreen(DecidingScreen):
    """Three shelves, with what is under the cursor in full beside them or below."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "knowledge.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide"), (_BROAD, "-broad")]
    AUTO_FOCUS = "#shelf"
    TITLE = "Knowledge"
    BINDINGS = [
        Binding("a", "approve", "Approve", tooltip="Let it become what it would", id="knowledge-approve"),
        Binding("e", "edit_and_approve", "Edit, approve", tooltip="Change its words, then approve it", id="knowledge-edit-approve"),
        Binding("x", "reject", "Reject", tooltip="Let it go: it is believed no longer", id="knowledge-reject"),
        Binding("w", "whose", "Whose", tooltip="Choose whose knowledge is shown", id="knowledge-whose"),
        Binding("o", "only", "Only…", tooltip="Show one kind, tier or state only, or what is about somebody", id="knowledge-only"),
        Binding("slash", "filter", "Search", key_display="/", tooltip="Show only what holds these words", id="knowledge-filter"),
        Binding("plus", "add", "Add", tooltip="Let somebody know something, in your words", id="knowledge-add"),
        Binding("e", "edit", "Edit", tooltip="Put it into your words, or change what belongs to it", id="knowledge-edit"),
        Binding("s", "rescope", "Scope", tooltip="Choose who holds it, with who would come to know it", id="knowledge-scope"),
        Binding("p", "pin", "Pin", tooltip="Pin it, or let go: what is pinned never sinks", id="knowledge-pin"),
        Binding("n", "narrow", "Owner only", tooltip="Leave it to its owner alone", id="knowledge-narrow"),
        Binding("b", "restore", "Bring back", tooltip="Bring back what ended, sank or is gone; or a wording", id="knowledge-restore"),
        Binding("d,delete", "delete", "Delete", tooltip="Take it away; it can be brought back", id="knowledge-delete"),
        Binding("u", "undo", "Take back", show=False, tooltip="Take back what happened last, after showing it", id="knowledge-undo"),
        Binding("U,ctrl+r", "redo", "Bring again", show=False, tooltip="Bring again what was taken back last", id="knowledge-redo"),
        Binding("Q", "question", "Ask", tooltip="Ask what somebody believed at some round", id="knowledge-ask"),
        Binding("N", "narrator", "True names", tooltip="Read with true names, or with those that whom you play has", id="knowledge-names"),
        *(
            Binding(str(number), f"shelf('{key}')", SHELVES[key], show=False, tooltip=f"Go to {SHELVES[key].lower()}")
            for number, key in enumerate(ORDER, 1)
        ),
        Binding("enter", "in_full", "In full", tooltip="Go to the text beside or below; esc comes back", id="knowledge-in-full"),
        Binding("right,l", "turn(1)", "Next list", key_display="→", tooltip="The next list; left goes back", id="knowledge-next"),
        Binding("left,h", "turn(-1)", "List before", show=False, id="knowledge-previous"),
        Binding("escape", "to_answer", "To the list", tooltip="Back to the list", id="knowledge-to-list"),
        Binding("escape", "show_all", "Show all", tooltip="Show again what was searched or left out", id="knowledge-show-all"),
        Binding("escape,q", "back", "Back", key_display="esc", tooltip="Back to play", id="knowledge-back"),
        Binding("r", "reverse", "Unpromote", tooltip="Take its promotion back", id="knowledge-reverse"),
        Binding("P", "promote", "Promote", tooltip="Promote now what is sure and old enough", id="knowledge-promote"),
        Binding("F", "factions", "Factions", tooltip="Say who is in which faction, with what that teaches", id="knowledge-factions"),
        Binding("A", "audit", "Audit", show=False, tooltip="What was done to it, and to all else that is known", id="knowledge-audit"),
        Binding("question_mark,f1", "app.show_help", "Help", id="help"),
        Binding("ctrl+q", "app.quit", "Quit", show=False, tooltip="Leave Otherminds; all is saved"),
    ]

    whose = getters.query_one("#whose", WhoseList)

    def compose(self) -> ComposeResult:
        """Shelves, the question, what is under the cursor, the search."""
        yield Static(id="known-head", markup=False)
        with Horizontal(id="known-body"):
            yield WhoseList(id="whose", classes="pane")
            with Vertical(id="known-left"):
                yield AskBox(self.asking_names, lambda: self.game.world.round)
                yield KnownList(id="shelf", classes="pane")
            yield RowList(id="detail", classes="pane")
        with Horizontal(id="filter-line"):
            yield Static("/", id="filter-mark", markup=False)
            yield FilterLine(id="filter", compact=True, placeholder="words that it holds")
        yield Static(id="known-note", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Read, and follow what changes."""
        self.query_one("#filter-line").display = False
        self.box.display = False
        self.whose.border_title = Content("Whose")
        self.detail.can_focus = True
        self.entries.help_text = _HELPS[self.shelf]
        self.listen()
        self.draw_shelf()
        self.read()

    # keys that depend on what is there

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are there when they can do something."""
        if not self.is_mounted:
            return True
        item, line, known = self.under, self.ground(), self.shelf == "known"
        match action:
            case "approve" | "reject" | "edit_and_approve":
                return isinstance(item, ReviewLine)
            case "edit" | "pin" | "delete":
                return line is not None and not isinstance(item, ReviewLine) and not self._lost(item)
            case "rescope":
                return line is not None and not self._lost(item)
            case "narrow":
                return isinstance(item, ReviewLine) or (known and line is not None and line.row.scope != "entity")
            case "restore":
                return self._can_return(item)
            case "reverse":
                return known and (
                    (isinstance(item, AuditLine) and item.row.action == "merged")
                    or (line is not None and line.row.term == "long" and line.row.promoted_round is not None)
                )
            case "whose" | "only" | "filter" | "add" | "promote" | "factions":
                return known or action == "promote"
            case "narrator":
                return self.game.played is not None
            case "in_full":
                return item is not None and self.entries.has_focus
            case "to_answer":
                return self.detail.has_focus or self.box.has_focus_within or self.whose.has_focus
            case "show_all":
                return known and (self.asked.only != Only() or bool(self.line.value) or self.line.has_focus)
        return True

    def _lost(self, item: object) -> bool:
        """Whether it is an answer about a piece that is no more."""
        return isinstance(item, BeliefLine) and item.now.startswith("It is no more")

    def _can_return(self, item: object) -> bool:
        line = self.ground()
        if isinstance(item, AuditLine) or self.wording() is not None:
            return True
        if isinstance(item, BeliefLine):
            return bool(item.now)
        return line is not None and (not line.row.holds or line.row.tier != "hot")

    # shelves

    def action_shelf(self, shelf: Shelf) -> None:
        """Another shelf."""
        self.entries.help_text = _HELPS[shelf]
        self.go_to(shelf)

    def action_turn(self, by: int) -> None:
        """The shelf beside."""
        self.action_shelf(ORDER[(ORDER.index(self.shelf) + by) % len(ORDER)])

    def action_question(self) -> None:
        """Go to the question box."""
        self.action_shelf("asked")
        self.box.line.focus()

    @on(AskBox.Asked)
    def _ask(self, event: AskBox.Asked) -> None:
        event.stop()
        self.ask(event.text)

    def action_to_answer(self) -> None:
        """Back to the list."""
        self.entries.focus()
        self.refresh_bindings()

    def action_in_full(self) -> None:
        """Go to the text beside."""
        self.detail.focus()
        self.detail.begin()
        self.detail.scroll_home(animate=False)

    @on(RowList.Picked)
    @on(RowList.Moved, "#detail")
    def _stepped(self, event: RowList.Picked | RowList.Moved) -> None:
        event.stop()
        self.refresh_bindings()

    def on_descendant_focus(self) -> None:
        """Other keys matter where one is now."""
        self.refresh_bindings()

    def before_detail(self) -> list[Row]:
        """Why it waits and who would come to know it; or how it read at the round asked for."""
        item = self.under
        if isinstance(item, ReviewLine):
            return [
                text(f"{CANDIDATE} It waits since round {item.item.round}: {plain(item.reason)}", ".candidate"), gap(),
                head(f"Approved, it would be held by {plain(item.change.holder)}"), text(plain(item.change.told), ".name"),
                keys("a", "approves"), keys("e", "changes the words and approves"), keys("n", "leaves it to its owner alone"),
                keys("s", "lets others hold it"), keys("x", "rejects: it is believed no longer"), gap(),
            ]
        if isinstance(item, BeliefLine) and self.question is not None:
            rows = [head(f"As it was at the end of round {self.question.round}"), *words_of(item.line)]
            return [*rows, quiet(plain(item.now) or "It is so still."), gap(), head("As it is now")]
        return []

    # looking for something

    @work(group="by-hand")
    async def action_whose(self) -> None:
        """Ask whose knowledge to show."""
        if self.whose.display:
            self.action_shelf("known")
            self.whose.focus()
            return
        answer = await self.app.push_screen_wait(PickDialog("Whose knowledge?", self.picks(), key_of_whose(self.asked.whose)))
        if answer is not None:
            self.look_for(replace(self.asked, whose=whose_of(answer)))

    def picks(self) -> list[Pick]:
        """All whose knowledge can be looked at."""
        return picks_of(self.game.world, self.game.knowledge.factions(), self.called)

    def entitle(self) -> None:
        """Say whose knowledge it is, also beside the shelves."""
        super().entitle()
        self.whose.show_picks(self.picks(), self.asked.whose)

    @on(RowList.Moved, "#whose")
    def _whose_moved(self, event: RowList.Moved) -> None:
        event.stop()
        if self.whose.has_focus:
            if self.shelf != "known":
                self.action_shelf("known")
                self.whose.focus()
            self.look_for(replace(self.asked, whose=whose_of(event.key)))

    @work(group="by-hand")
    async def action_only(self) -> None:
        """Ask what of it to show."""
        only = self.asked.only
        now = {
            "state": only.state, "kind": only.kind or "", "tier": only.tier or "", "term": only.term or "",
            "subject": self.called(only.subject) if only.subject else "",
        }
        answer = await self.app.push_screen_wait(OnlyDialog(now, list(self.names().values())))
        if answer is not None:
            subject = self.known_as(answer["subject"]) if answer["subject"] else None
            state = cast(State, answer["state"] or "believed")
            chosen = Only(
                state, cast(KnowledgeKind | None, answer["kind"] or None), subject, cast(Tier | None, answer["tier"] or None),
                cast(Term | None, answer["term"] or None),
            )
            self.look_for(replace(self.asked, only=chosen))

    def action_filter(self) -> None:
        """Search by words."""
        self.query_one("#filter-line").display = True
        self.line.focus()

    @on(Input.Changed, "#filter")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self.look_for(replace(self.asked, words=tuple(event.value.casefold().split())), typing=True)

    @on(Input.Submitted, "#filter")
    def _to_list(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#filter-line").display = bool(self.line.value)
        self.entries.focus()

    def action_show_all(self) -> None:
        """Show all again: neither words nor anything else is asked for."""
        with self.prevent(Input.Changed):
            self.line.value = ""
        self.query_one("#filter-line").display = False
        self.entries.focus()
        self.look_for(replace(self.asked, only=Only(), words=()))

    def action_narrator(self) -> None:
        """True names, or those that whom one plays has for people."""
        self.narrated = not self.narrated
        self.read()

    def action_audit(self) -> None:
        """What was done to the piece under the cursor; without one, everything."""
        from tui.screens.audit import AuditScreen

        self.app.push_screen(AuditScreen(self.host, knowledge=key_of(self.under) if self.under is not None else ""))

    def action_back(self) -> None:
        """Back to play."""
        self.dismiss(None)


