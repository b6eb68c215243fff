"""What a reader does to sessions by hand: begin, add to, pin, note, collapse, discard, try again."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from textual import work

from engine.errors import OthermindsError
from engine.records.base import EntityId
from engine.records.sessions import SessionId
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.session import NewSession, ScratchDialog, StartDialog, TurnDialog, TurnDraft
from tui.figures import money
from tui.panes.sessions import held, pair_words
from tui.panes.sessions_ended import NOTE, TURN
from tui.screens.sessions_reading import SessionsReadingScreen
from tui.text import capital, count, plain

if TYPE_CHECKING:
    from engine.game import Game
    from engine.records.sessions import CollapseForecast
    from engine.session_views import SessionLine, TurnLine

_OPEN = ("open", "failed")


class SessionsByHandScreen(SessionsReadingScreen):
    """Actions on sessions. Each goes through the desk, is told of, and what it changed is read anew."""

    @property
    def under(self) -> "SessionLine | None":
        """The session under the cursor, as it was read last."""
        key = self.entries.cursor
        if self.page is not None and self.page.line.session.id == key:
            return self.page.line
        return next((line for line in self.lines if line.session.id == key), None)

    @property
    def writable(self) -> bool:
        """Whether the session under the cursor takes turns, pins and notes."""
        return self.under is not None and self.under.session.status == "open"

    @property
    def under_turn(self) -> "TurnLine | None":
        """The turn under the cursor of the detail."""
        key = self.detail.cursor
        if self.page is None or not self.detail.has_focus or not key.startswith(TURN):
            return None
        return next((line for line in self.page.turns if TURN + line.turn.id == key), None)

    @property
    def under_note(self) -> str:
        """The key of the note under the cursor of the detail; empty when it is on none."""
        key = self.detail.cursor
        return key.removeprefix(NOTE) if self.page is not None and self.detail.has_focus and key.startswith(NOTE) else ""

    def given_up(self, line: "SessionLine") -> bool:
        """Whether a collapse is to be made that nobody is at: a cap was reached, or the save was opened after it was broken off."""
        return line.state == "collapsing" and not self.steps.get(line.session.id)

    async def tried(self, doing: Awaitable[object], done: str) -> str:
        """Do it and say so. Returns what was wrong, or nothing."""
        try:
            await doing
        except OthermindsError as error:
            return str(error)
        self.say(done, "good")
        self.start_reading()
        return ""

    async def told(self, doing: Awaitable[object], done: str) -> None:
        """Do it, and say so or what was wrong."""
        if problem := await self.tried(doing, done):
            self.say(problem, "bad")

    # beginning

    @work(group="by-hand")
    async def action_begin(self) -> None:
        """Begin a session."""
        game = self.host.game
        if game is None:
            return
        known = sorted(
            ((entity, capital(plain(self.called(game, entity)))) for entity in game.world.entities),
            key=lambda one: (not game.world.entities[one[0]].agent, one[1].casefold()),
        )
        agents = [one for one in known if game.world.entities[one[0]].agent]
        if not agents:
            self.say("Nobody here has a mind: there are no sessions.", "bad")
            return
        begun: dict[tuple[EntityId, EntityId], SessionId] = {}

        async def keep(new: NewSession) -> str:
            try:
                key = begun.get((new.agent, new.actor))
                if key is None:
                    policy = game.policies.sessions.of(new.agent).model_copy(update={"mode": "explicit"}) if new.only_by_word else None
                    key = begun[new.agent, new.actor] = (await game.sessions.start(new.agent, new.actor, policy)).id
                if new.goal:
                    await game.sessions.scratch(key, "goal", new.goal)
            except OthermindsError as error:
                return str(error)
            self.show_session(key)
            self.say("Begun. t adds a turn, s a note; what the two say to each other comes by itself.", "good")
            return ""

        line = self.under
        agent = self.agent or (line.session.agent_id if line is not None else agents[0][0])
        await self.app.push_screen_wait(StartDialog(agents, known, agent, keep))

    def called(self, game: "Game", entity: EntityId) -> str:
        """True names for the narrator and of whom one plays, else what that one calls them."""
        return game.name(entity, None if entity == game.played else game.played)

    def show_session(self, key: SessionId) -> None:
        """Put the cursor on a session, newly begun; what would leave it out gives way."""
        self.agent = self.state = None
        self.words.value = ""
        self.query_one("#filter-line").display = False
        self.wanted, self._first = key, True
        self.start_reading()

    # adding

    @work(group="by-hand")
    async def action_turn(self) -> None:
        """Add a turn to the session under the cursor."""
        game, line = self.host.game, self.under
        if game is None or line is None:
            return
        key = line.session.id

        async def keep(draft: TurnDraft) -> str:
            adding = game.sessions.add_turn(key, draft.role, draft.text, draft.pinned, draft.hint)
            return await self.tried(adding, "Added.")

        title = f"A turn of {pair_words(line)}"
        await self.app.push_screen_wait(TurnDialog(title, capital(plain(line.agent)), capital(plain(line.actor)), keep))

    @work(group="by-hand")
    async def action_note(self) -> None:
        """Write a note on the scratchpad of the session under the cursor."""
        await self._write_note("", "")

    @work(group="by-hand")
    async def action_edit(self) -> None:
        """Change the note under the cursor. It is shown as its owner reads it."""
        game, name, page = self.host.game, self.under_note, self.page
        if game is None or page is None or not name:
            return
        from engine.knowledge_views import told

        await self._write_note(name, told(game.world, page.line.session.scratch.get(name, ""), page.line.session.agent_id))

    async def _write_note(self, name: str, text: str) -> None:
        game, line = self.host.game, self.under
        if game is None or line is None:
            return
        session = line.session.id

        async def keep(key: str, words: str) -> str:
            return await self.tried(game.sessions.scratch(session, key, words), "Noted.")

        await self.app.push_screen_wait(ScratchDialog(name, plain(text), keep))

    @work(group="by-hand")
    async def action_pin(self) -> None:
        """Pin the turn under the cursor, or let go of it."""
        game, line = self.host.game, self.under_turn
        if game is None or line is None:
            return
        on = not line.turn.pinned
        text = "Pinned: a model will be asked what is left of it, and it stays when older parts go." if on else "Let go."
        await self.told(game.sessions.pin(line.turn.session_id, line.turn.id, on), text)

    # ending

    @work(group="by-hand")
    async def action_take_away(self) -> None:
        """Take the note under the cursor away, or discard the session, once the reader has said so."""
        game, line, note = self.host.game, self.under, self.under_note
        if game is None or line is None:
            return
        if note:
            await self.told(game.sessions.scratch(line.session.id, note, None), f"The note {note} is gone. The audit keeps its words: A.")
            return
        lost = f"{held(line)} come to nothing: no fact, decision or task of it is kept."
        noted = len(line.session.scratch)
        stands = "no longer stands" if noted == 1 else "no longer stand"
        notes = f" Its {count(noted, 'note')} {stands} in the agent's prompt." if noted else ""
        question = f"{pair_words(line)}\n\n{capital(lost)}{notes}\n\nWhat was said stays in the minds of both. r takes this back."
        if await self.app.push_screen_wait(ConfirmDialog("Discard this session?", question, "discard it")):
            await self.told(game.sessions.discard(line.session.id), "Discarded. r takes it back, until the two begin another.")

    @work(group="by-hand")
    async def action_collapse(self) -> None:
        """Collapse the session under the cursor, once the reader has seen what that will cost."""
        game, line = self.host.game, self.under
        if game is None or line is None:
            return
        self.say("Reckoning what it will cost…")
        try:
            forecast = await game.sessions.forecast(line.session.id)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        self.say("")
        question = f"{pair_words(line)}: {held(line)}\n\n{foretold(game, forecast)}"
        if await self.app.push_screen_wait(ConfirmDialog("Collapse it now?", question, "collapse it")):
            await self.told(game.sessions.collapse(line.session.id), "It is being collapsed; it is written between two rounds.")

    @work(group="by-hand")
    async def action_again(self) -> None:
        """Try a failed collapse again, or take back that a session was discarded."""
        game, line = self.host.game, self.under
        if game is None or line is None:
            return
        if line.state == "discarded":
            await self.told(game.sessions.reopen(line.session.id), "Open again, as it was.")
        elif line.state == "failed" or self.given_up(line):
            await self.told(game.sessions.collapse(line.session.id), "It is being tried again.")


def foretold(game: "Game", forecast: "CollapseForecast") -> str:
    """What a collapse will cost, or that no model will be asked and why."""
    gate = forecast.gate
    cut = f" {count(forecast.cut, 'turn')} will be cut: they give orders." if forecast.cut else ""
    if not gate.asked:
        return f"No model will be asked: {plain(gate.reason)}.{cut} It ends with a summary that says so, and costs nothing."
    view = next((route.endpoints[0] for route in game.models.routes() if route.task == "collapse" and route.endpoints), None)
    if forecast.model == "storyteller":
        price = "It costs nothing."
    elif view is None or view.input_price is None or view.output_price is None:
        price = "Its price is unknown."
    else:
        most = (forecast.prompt_tokens * view.input_price + forecast.reply_tokens * view.output_price) / 1e6
        price = f"At most {money(most)}." if most else "It costs nothing."
    left = f" {count(forecast.left_out, 'turn')} will be left out: there is no room for them." if forecast.left_out else ""
    who = "The storyteller" if forecast.model == "storyteller" else plain(forecast.model)
    return (
        f"{who} will be asked ({plain(gate.reason)}): about {forecast.prompt_tokens:,} tokens, and up to "
        f"{forecast.reply_tokens:,} of reply. {price}{cut}{left} What contradicts something known may take a call more."
    )


__all__ = ["SessionsByHandScreen", "foretold"]
