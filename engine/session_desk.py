"""What a person or a program does with sessions: start, add a turn, pin, scratch, collapse, discard, and looking at them (DESIGN 9)."""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol, get_args

from engine.errors import CapReachedError, CommandError, SessionError
from engine.events import Listener, SessionsChanged
from engine.memory import hand_words
from engine.memory.ids import first_id
from engine.memory.sessions.triggers import check_collapse_trigger, outgrown
from engine.records.base import EntityId
from engine.records.clean import clean, one_line
from engine.records.knowledge import AuditAction
from engine.records.memory import LedgerEntry
from engine.records.policies import Policies
from engine.records.sessions import (
    CollapseForecast,
    CollapsePolicy,
    CollapseReport,
    CollapseRun,
    NewTurn,
    Role,
    Session,
    SessionId,
    SessionStatus,
    Turn,
    TurnId,
)
from engine.records.tokens import token
from engine.records.world import World
from engine.session_views import SessionLine, SessionPage, people_called, session_line, session_page
from engine.storage.knowledge_audit import Change
from engine.storage.session_list import SessionList, SessionState
from engine.storage.store import Store

LONGEST_TURN = 20_000
"""Characters of a turn."""
LONGEST_HINT = 200
LONGEST_VALUE = 2_000
"""Characters of one note on the scratchpad."""
MOST_KEYS = 40
"""Notes on one scratchpad."""
_KEY = re.compile(r"[^\W_][\w -]{0,39}")

Allowed = Literal["open", "not ended", "discarded"]


class Collapser(Protocol):
    """Who collapses sessions, beside play."""

    def asked(self, session: SessionId) -> None:
        """A person's word: the session is marked as being collapsed, which is safe on disk. Called on the event loop; must not wait."""

    def grown(self, session: SessionId) -> None:
        """A session got a turn by hand and may hold more than its policy allows. Called on the event loop; must not wait."""

    def given_up(self, session: SessionId) -> None:
        """A session was ended otherwise: no model is asked about it any more. Called on the event loop; must not wait."""

    async def over(self, session: SessionId) -> CapReachedError | None:
        """Wait until a session that was asked for is no longer being collapsed. Returns the cap that keeps it from that, if one does."""


Foretold = Callable[[World, Session], Awaitable[CollapseForecast]]
"""Reckons what collapsing a session at somebody's word would come to."""


class SessionDesk:
    """The sessions of one open save. `world` gives the world as of the last commit.

    Each change is one transaction and told of when it is safe on disk. Raises `SessionError`, whose `kind` programs can go by, for
    what cannot be done; then nothing was changed.
    """

    def __init__(
        self, store: Store, world: Callable[[], World], policies: Policies, emit: Listener, collapser: Collapser | None = None,
        foretold: Foretold | None = None,
    ) -> None:
        self._store, self._world, self._policies, self._emit = store, world, policies, emit
        self.collapser = collapser
        """Told of each session that somebody wants collapsed. What it misses is found by the marks in the save."""
        self._foretold, self._list = foretold, SessionList(store.sessions)

    # the six operations
    async def start(self, agent: EntityId, actor: EntityId, policy: CollapsePolicy | None = None) -> Session:
        """Open a session of an agent with somebody or something else. Without a policy the world's holds."""
        world = self._world()
        for entity in (agent, actor):
            if entity not in world.entities:
                raise SessionError(f'Nobody here has the id "{_short(entity)}".', kind="unknown_entity")
        if not world.entities[agent].agent or agent == actor:
            raise SessionError("A session is of somebody with a mind, with another.", "Choose two of the people.", kind="unknown_entity")
        terms = policy or self._policies.sessions.of(agent)

        def run(conn: sqlite3.Connection) -> Session:
            if (there := self._store.sessions.open_of(conn, agent, actor)) is not None:
                raise SessionError(f"These two have a session already: {there.id}.", "Go on with it, or end it first.", kind="already_open")
            opened = self._store.sessions.open(conn, agent, actor, terms, world.round, self._by_hand("opened", "begun by hand"))
            return self._noted(conn, opened, "was begun")

        return self._told(await self._store.db.write(run))

    async def add_turn(self, session: SessionId, role: str, content: str, pinned: bool = False, hint: str = "") -> Turn:
        """Add what was said (`agent`, `actor`) or a remark (`note`) to an open session. Words are kept as they are; in a remark people
        may be named as the agent calls them."""
        world, known = self._world(), await self._allowed(session, "open")
        if role not in get_args(Role):
            raise SessionError(f'No turn has the role "{_short(role)}".', f"Use {', '.join(get_args(Role))}.", kind="bad_role")
        turn = NewTurn(
            role=role, speaker_id={"agent": known.agent_id, "actor": known.actor_id}.get(role), content=self._words(known, role, content),
            pinned=pinned, hint=_hint(hint), timestamp=world.now, round=world.round,
        )

        def run(conn: sqlite3.Connection) -> tuple[Turn, bool]:
            now = self._check(conn, session, "open")
            [added] = self._store.sessions.add_turns(conn, [(session, turn)])
            self._noted(conn, now, "has another turn")
            return added, now.policy.mode != "explicit" and outgrown(now, self._store.sessions.sizes(conn, [session])[session])

        added, grown = await self._store.db.write(run)
        self._emit(SessionsChanged(session_ids=(session,)))
        if grown and self.collapser is not None:
            self.collapser.grown(session)
        return added

    async def pin(self, session: SessionId, turn: TurnId, on: bool = True) -> Turn:
        """Pin a turn, or let go of it: a pinned one is reason enough to ask a model, and stays when the older part is collapsed."""

        def run(conn: sqlite3.Connection) -> Turn:
            known = self._check(conn, session, "open")
            found = self._store.sessions.turn(conn, turn)
            if found is None or found.session_id != session:
                raise SessionError(f'{session} has no turn "{_short(turn)}".', "Its turns may have been collapsed.", kind="unknown_turn")
            if found.pinned == on:
                return found
            self._store.sessions.pin(conn, session, turn, on)
            self._noted(conn, known, "has a turn pinned" if on else "has a turn pinned no more")
            change = self._by_hand("edited", "a turn was pinned" if on else "a pin was taken away")
            self._store.audit.add(conn, change, owner=known.agent_id, session=session, before=found.content, after=found.content)
            return found.model_copy(update={"pinned": on})

        pinned = await self._store.db.write(run)
        self._emit(SessionsChanged(session_ids=(session,)))
        return pinned

    async def scratch(self, session: SessionId, key: str, value: str | None) -> Session:
        """Write a note on the scratchpad, or with None take it away. People may be named in it as the agent calls them."""
        known = await self._allowed(session, "open")
        name = self._key(key)
        text = None if value is None else self._note(known, value, LONGEST_VALUE)

        def run(conn: sqlite3.Connection) -> Session:
            now = self._check(conn, session, "open")
            notes = {k: v for k, v in now.scratch.items() if k != name} | ({name: text} if text is not None else {})
            if len(notes) > MOST_KEYS:
                raise SessionError(f"A scratchpad holds {MOST_KEYS} notes.", "Take one away first.", kind="bad_key")
            changed = now.model_copy(update={"scratch": notes})
            if changed.scratch != now.scratch:
                before, after = (f"{name}: {scratch[name]}" if name in scratch else "" for scratch in (now.scratch, notes))
                self._store.sessions.update(conn, changed, self._by_hand("edited", "scratch"), before=before, after=after)
            return self._noted(conn, changed, f"has another note on {name}")

        return self._told(await self._store.db.write(run))

    async def collapse(self, session: SessionId) -> Session:
        """Have a session collapsed: it is marked, takes no more turns by hand, and what it comes to is committed between rounds. One that
        is being collapsed already is left to that."""
        world = self._world()

        def run(conn: sqlite3.Connection) -> Session:
            now = self._check(conn, session, "not ended")
            if now.status == "collapsing":
                return now
            changes = {"status": "collapsing", "promotion_state": "pending", "asked": "explicit", "ended": world.now}
            asked = now.model_copy(update={**changes, "ended_round": world.round})
            self._store.sessions.update(conn, asked, self._by_hand("edited", "to be collapsed"), before=now.status, after=asked.status)
            return self._noted(conn, asked, "is to be collapsed")

        asked = self._told(await self._store.db.write(run))
        if self.collapser is not None:
            self.collapser.asked(session)
        return asked

    async def over(self, session: SessionId) -> CapReachedError | None:
        """Wait until a session whose collapse was asked for is no longer at it, whatever came of it: `runs` tells. Returns the cap that
        keeps a model from being asked, if one does: then it stays marked, and asking anew tries anew."""
        return await self.collapser.over(session) if self.collapser is not None else None

    async def discard(self, session: SessionId) -> Session:
        """End a session without anything coming of it, also one that is being collapsed. `reopen` takes it back."""
        world = self._world()

        def run(conn: sqlite3.Connection) -> Session:
            now = self._check(conn, session, "not ended")
            gone = now.model_copy(update={"status": "discarded", "asked": None, "ended": world.now, "ended_round": world.round})
            self._store.sessions.update(conn, gone, self._by_hand("discarded", "by hand"), before=now.status, after=gone.status)
            return self._noted(conn, gone, "was discarded")

        gone = self._told(await self._store.db.write(run))
        if self.collapser is not None:
            self.collapser.given_up(session)
        return gone

    async def reopen(self, session: SessionId) -> Session:
        """Take back that a session was discarded. Its turns are as they were."""

        def run(conn: sqlite3.Connection) -> Session:
            now = self._check(conn, session, "discarded")
            if (there := self._store.sessions.open_of(conn, now.agent_id, now.actor_id)) is not None:
                raise SessionError(f"These two have begun another session: {there.id}.", "End that one first.", kind="already_open")
            state = "none" if now.promotion_state == "pending" else now.promotion_state
            again = now.model_copy(update={"status": "open", "promotion_state": state, "ended": None, "ended_round": None})
            self._store.sessions.update(conn, again, self._by_hand("restored", "by hand"), before=now.status, after=again.status)
            return self._noted(conn, again, "was opened again")

        return self._told(await self._store.db.write(run))

    # looking; nothing here changes anything
    async def get(self, session: SessionId) -> Session:
        """One session."""
        return await self._store.db.read(lambda conn: self._known(conn, session))

    async def list(
        self, agent: EntityId | None = None, status: SessionStatus | None = None, *, actor: EntityId | None = None,
        before: SessionId | None = None, limit: int = 100,
    ) -> Sequence[Session]:
        """The newest sessions that fit every filter given, newest first. The next page is `before` the last of this one."""
        statuses = () if status is None else (status,)
        return await self._store.db.read(
            lambda conn: self._store.sessions.find(conn, agent=agent, actor=actor, statuses=statuses, before=before, limit=limit)
        )

    async def turns(self, session: SessionId) -> Sequence[Turn]:
        """The turns that a session holds, oldest first. Those that were collapsed are gone."""
        return await self._store.db.read(lambda conn: self._store.sessions.turns(conn, self._known(conn, session).id))

    async def runs(self, session: SessionId) -> Sequence[CollapseRun]:
        """All collapses of a session with what they came to, failed ones too, oldest first."""
        return await self._store.db.read(lambda conn: self._store.sessions.runs(conn, self._known(conn, session).id))

    async def episode(self, session: SessionId) -> Sequence[LedgerEntry]:
        """The agent's memories that tell what happened in a session, chronological. Empty until a handoff has promoted them."""
        return await self._store.db.read(lambda conn: self._store.sessions.episode(conn, self._known(conn, session)))

    async def report(self, session: SessionId) -> CollapseReport:
        """Whether a session would be collapsed now, with the measurements behind the answer."""

        def read(conn: sqlite3.Connection) -> tuple[Session, Sequence[Turn]]:
            return self._known(conn, session), self._store.sessions.turns(conn, session)

        return check_collapse_trigger(*await self._store.db.read(read), self._world().now)

    async def forecast(self, session: SessionId) -> CollapseForecast:
        """What `collapse` would come to now: whether a model would be asked and why, and how long its prompt is. Asks no model but the
        embedder, and changes nothing. Raises `ModelError` too."""
        now = await self._allowed(session, "not ended")
        if self._foretold is None:
            raise SessionError("Nobody is here who collapses sessions.", "Open the save to play it.", kind="closed_session")
        return await self._foretold(self._world(), now)

    async def lines(
        self, *, agent: EntityId | None = None, party: EntityId | None = None, state: SessionState | None = None, words: Sequence[str] = (),
        before: SessionId | None = None, limit: int = 100, viewer: EntityId | None = None,
    ) -> Sequence[SessionLine]:
        """The newest sessions that fit every filter given, newest first, as a list shows them to `viewer`. `party` is either of the two.
        All of `words` must stand in the names of the two, in turns, notes or the summary. The next page is `before` the last one."""
        world = self._world()
        wanted = [(word, people_called(world, word, viewer)) for word in words]
        found = await self._store.db.read(
            lambda conn: self._list.find(conn, agent=agent, party=party, state=state, words=wanted, before=before, limit=limit)
        )
        return [session_line(world, one, viewer) for one in found]

    async def counts(self) -> Mapping[EntityId, int]:
        """How many sessions each agent has, in order of their ids."""
        return await self._store.db.read(self._list.counts)

    async def parts(self) -> Mapping[EntityId, int]:
        """In how many sessions each entity takes part, as whose it is or as the other, in order of their ids."""
        return await self._store.db.read(self._list.parts)

    async def page(self, session: SessionId, viewer: EntityId | None = None) -> SessionPage:
        """All that there is of one session, told to `viewer`."""
        return await self._store.db.read(lambda conn: session_page(conn, self._store, self._world(), self._list.one(conn, session), viewer))

    def _by_hand(self, action: AuditAction, why: str) -> Change:
        return Change(action, "hand", why, self._world().now)

    def _noted(self, conn: sqlite3.Connection, session: Session, what: str) -> Session:
        """Say in the journal what the running transaction does to a session."""
        self._store.journal.note(conn, "hand", f"{token(session.agent_id)}: the session with {token(session.actor_id)} {what}")
        return session

    def _told(self, session: Session) -> Session:
        self._emit(SessionsChanged(session_ids=(session.id,)))
        return session

    def _known(self, conn: sqlite3.Connection, session: SessionId) -> Session:
        found = self._store.sessions.get(conn, session)
        if found is None:
            raise SessionError(f'There is no session "{_short(session)}".', "List them to see which there are.", kind="unknown_session")
        return found

    def _check(self, conn: sqlite3.Connection, session: SessionId, allowed: Allowed) -> Session:
        found = self._known(conn, session)
        states = {"open": ("open",), "not ended": ("open", "collapsing"), "discarded": ("discarded",)}[allowed]
        if found.status not in states:
            state = "being collapsed" if found.status == "collapsing" else found.status
            advice = "Only a discarded one can be taken back." if allowed == "discarded" else "Start a new one."
            raise SessionError(f"{session} is {state}.", advice, kind="closed_session")
        return found

    async def _allowed(self, session: SessionId, allowed: Allowed) -> Session:
        return await self._store.db.read(lambda conn: self._check(conn, session, allowed))

    def _words(self, session: Session, role: str, content: str) -> str:
        if len(content) > LONGEST_TURN:
            raise SessionError(f"A turn of {len(content):,} characters is too long.", f"Keep it to {LONGEST_TURN:,}.", kind="bad_text")
        text = clean(content).strip().replace("{{", "{")  # what looks like a reference token in speech is none
        if not any(sign.isalnum() for sign in text):
            raise SessionError("A turn needs words.", kind="bad_text")
        return self._note(session, text, LONGEST_TURN) if role == "note" else text

    def _note(self, session: Session, text: str, longest: int) -> str:
        try:
            return hand_words.account(self._world(), session.agent_id, text, what="A note", longest=longest)
        except CommandError as error:
            raise SessionError(error.args[0], error.advice, kind="bad_text") from error

    def _key(self, key: str) -> str:
        name = one_line(key)
        if not _KEY.fullmatch(name) or any(first_id(name, ids) for ids in (self._world().entities, self._world().places)):
            advice = "Use a few words such as `hypothesis` or `ruled_out`."
            raise SessionError(f'"{_short(name)}" cannot be the key of a note.', advice, kind="bad_key")
        return name


def _hint(hint: str) -> str:
    line = one_line(hint).replace("{{", "{")
    if len(line) > LONGEST_HINT:
        raise SessionError(f"A hint of {len(line)} characters is too long.", f"Keep it to {LONGEST_HINT}.", kind="bad_text")
    return line


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= 60 else line[:59] + "\u2026"
