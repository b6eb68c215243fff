"""What a reader does to knowledge by hand on its screen: write, change, take away, bring back, pin, and say who holds it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from textual import work

from engine.errors import CommandError, OthermindsError
from engine.knowledge_views import AuditLine, BeliefLine, KnowledgeLine
from engine.memory.knowledge.by_hand import KnowledgeEdit
from engine.memory.knowledge.scopes import holder_of, is_wider
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, Scope
from tui.dialogs.confirm import ConfirmDialog
from tui.dialogs.knowledge import KnowledgeDialog, KnowledgeDraft
from tui.dialogs.knowledge_choice import Pick, PickDialog
from tui.panes.known import key_of, line_of, shortened
from tui.panes.known_detail import WORDING
from tui.screens.knowledge_names import entity_called, to_edit, to_keep, together
from tui.screens.knowledge_reading import ShelvesScreen
from tui.text import capital, plain

T = TypeVar("T")
_QUOTE = 400
"""Characters of a piece that a question about it shows."""


class HandsScreen(ShelvesScreen):
    """Changes by hand. Each says first what it will come to, and afterwards what it has come to."""

    # what is common to all

    def ground(self) -> KnowledgeLine | None:
        """The piece under the cursor, as it is now; None for one that is no more, or nothing."""
        return line_of(self.under) if self.under is not None else None

    def known_as(self, text: str) -> EntityId:
        """Whom the reader means by a name. Raises `CommandError`."""
        return entity_called(text, self.names())

    def knowing(self, found: Sequence[EntityId]) -> str:
        """These people in a sentence."""
        return together([self.called(entity) for entity in found])

    async def did(self, doing: Awaitable[T], done: str | Callable[[T], str]) -> bool:
        """Do it, say so, and read anew; what is wrong is said instead. Whether it was done."""
        try:
            result = await doing
        except OthermindsError as error:
            self.say(str(error), "bad")
            return False
        self.say(done if isinstance(done, str) else done(result), "good")
        self.read()
        return True

    async def told(self, doing: Awaitable[T]) -> T | None:
        """What the desk says; None, with why, when it cannot: the piece may have gone meanwhile."""
        try:
            return await doing
        except OthermindsError as error:
            self.say(str(error), "bad")
            return None

    async def also_ended(self, row: Knowledge) -> str:
        """What else is believed no longer because of a piece that has come."""
        ended = await self.game.knowledge.list(holding=False, newest=True, limit=1000, viewer=self.viewer)
        rows = [one for one in ended if one.row.superseded_by == row.id]
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        return f" It stands against what has ended now: {shortened(rows[0].text, 80)}{more}" if rows else ""

    async def sure(self, title: str, text: str, comes_to: str, yes: str) -> bool:
        """Ask before it is done, with what it will come to."""
        question = "\n\n".join(part for part in (shortened(text, _QUOTE), plain(comes_to)) if part)
        return await self.app.push_screen_wait(ConfirmDialog(title, question, yes))

    # writing and changing

    @work(group="by-hand")
    async def action_add(self) -> None:
        """Let somebody know something in the reader's words."""
        desk, whose = self.game.knowledge, self.asked.whose
        factions = [(f"faction {one}", f"the faction {one}") for one in desk.factions()]
        holders = [("entity", "its owner alone"), *factions, ("world", "everybody")]
        minds = [one.id for one in self.game.world.agents()]
        if not minds:
            self.say("Nobody here has a mind that could know something.", "bad")
            return
        owner = next(one for one in (whose.key if whose.scope == "entity" else "", self.host.chosen, *minds) if one)
        holder = f"faction {whose.key}" if whose.scope == "faction" else "world" if whose.scope == "world" else "entity"

        def foretell(draft: KnowledgeDraft) -> str:
            try:
                who = self.holding(self.known_as(draft.owner), draft.holder)
            except CommandError as error:
                return str(error)
            return f"{capital(self.knowing(who))} will know it. What it contradicts there is believed no longer."

        async def keep(draft: KnowledgeDraft) -> str:
            scope, scope_id = scope_of(draft.holder)
            try:
                who = self.known_as(draft.owner)
                row = await desk.add(
                    who, self._kept(draft.text), scope=scope, scope_id=scope_id, kind=draft.known_kind, topic=draft.topic,
                    subject=self.known_as(draft.about) if draft.about else None, rationale=self._kept(draft.why),
                    confidence=draft.sure, importance=draft.importance, sensitive=draft.sensitive, pinned=draft.pinned,
                )
            except OthermindsError as error:
                return str(error)
            self.wanted = row.id
            self.say(f"Known from now on by {self.knowing(self.holding(who, draft.holder))}.{await self.also_ended(row)}", "good")
            return ""

        draft = KnowledgeDraft(owner=self.called(owner), holder=holder)
        dialog = KnowledgeDialog("A new piece of knowledge", draft, keep, foretell, list(self.names().values()), holders)
        if await self.app.push_screen_wait(dialog):
            self.read()

    def holding(self, owner: EntityId, holder: str) -> Sequence[EntityId]:
        """Who would know a new piece of somebody's, with this holder."""
        scope, key = scope_of(holder)
        if scope == "entity":
            return [owner]
        return [one.id for one in self.game.world.agents() if scope == "world" or key in one.factions]

    def _kept(self, text: str, first: Sequence[EntityId] = ()) -> str:
        """The reader's words for the desk: it knows true names, and what the owner calls people, but not what whom one plays does."""
        return text if self.viewer is None else to_keep(text, self.names(), first)

    @work(group="by-hand")
    async def action_edit(self) -> None:
        """Put the piece under the cursor into the reader's words."""
        if (line := self.ground()) is not None:
            await self.edit(line)

    async def edit(self, line: KnowledgeLine, then: str = "") -> bool:
        """Ask for other words. `then` is what happens to it afterwards. Whether it was kept."""
        row, names = line.row, self.names()
        knowing = await self.told(self.game.knowledge.who_knows(row.id))
        if knowing is None:
            return False
        who = self.knowing(knowing)
        before = KnowledgeDraft(
            text=plain(to_edit(row.content, names)), about=plain(names.get(row.subject_id or "", "")),
            why=plain(to_edit(row.rationale, names)), topic=row.topic_key, sure=round(row.confidence, 4), importance=row.importance,
            sensitive=row.sensitivity == "sensitive", pinned=row.pinned, owner=line.owner, kind=row.kind,
        )
        coming = f"{capital(who)} will know it in these words. {then or 'How it reads now stays among its wordings.'}" if who else then

        async def keep(draft: KnowledgeDraft) -> str:
            try:
                await self.game.knowledge.edit(row.id, self._change(row, before, draft))
            except OthermindsError as error:
                return str(error)
            return ""

        dialog = KnowledgeDialog(f"What {line.holder} knows", before, keep, lambda _: coming, list(names.values()))
        kept = await self.app.push_screen_wait(dialog)
        if kept:
            self.say("Changed. How it read before stands among its wordings.", "good")
            self.read()
        return kept

    def _change(self, row: Knowledge, before: KnowledgeDraft, draft: KnowledgeDraft) -> KnowledgeEdit:
        """What differs. Raises `CommandError` when nobody is called as it says."""
        first = [row.subject_id] if row.subject_id else []
        subject = (self.known_as(draft.about) if draft.about else "") if draft.about != before.about else None
        return KnowledgeEdit(
            content=self._kept(draft.text, first) if draft.text != " ".join(before.text.split()) else None,
            rationale=self._kept(draft.why, first) if draft.why != before.why.strip() else None, subject_id=subject,
            topic_key=draft.topic if draft.topic != before.topic else None,
            confidence=draft.sure if abs(draft.sure - before.sure) > 1e-9 else None,
            importance=draft.importance if draft.importance != before.importance else None,
            sensitivity=("sensitive" if draft.sensitive else "plain") if draft.sensitive != before.sensitive else None,
            pinned=draft.pinned if draft.pinned != before.pinned else None,
        )

    @work(group="by-hand")
    async def action_pin(self) -> None:
        """Pin the piece under the cursor, or let go of it."""
        if (line := self.ground()) is None:
            return
        on = not line.row.pinned
        told = "Pinned: it never sinks, and no merge rewords it." if on else "Let go: it sinks when it is not used."
        await self.did(self.game.knowledge.edit(line.row.id, KnowledgeEdit(pinned=on)), told)

    # taking away and bringing back

    @work(group="by-hand")
    async def action_delete(self) -> None:
        """Take the piece under the cursor away, once the reader has said so."""
        if (line := self.ground()) is None:
            return
        knowing = await self.told(self.game.knowledge.who_knows(line.row.id))
        if knowing is None:
            return
        who = self.knowing(knowing)
        told = f"{capital(who)} will know it no longer." if who else "Nobody believes it now."
        if await self.sure("Delete this?", line.text, f"{told} It can be brought back: o shows what is no more.", "delete it"):
            await self.did(self.game.knowledge.delete(line.row.id), "Deleted. o shows what is no more, and b brings it back.")

    @work(group="by-hand")
    async def action_restore(self) -> None:
        """Bring back what is gone, has ended or has sunk; with the cursor on an earlier wording, as it read then."""
        if (item := self.under) is None:
            return
        key, line = key_of(item), line_of(item)
        version = self.wording()
        if version is None and isinstance(item, BeliefLine) and item.now:
            version = item.line.row.version
        if line is not None and version is None and line.row.holds and line.row.tier == "hot":
            self.say("It is believed and near at hand. To bring back an earlier wording, go to it with tab and press b there.")
            return
        text = item.before.split("\n", 1)[0] if isinstance(item, AuditLine) else line.text if line else ""
        if version is not None:
            past = await self.told(self.game.knowledge.history(key, self.viewer))
            if past is None:
                return
            text = next((one.text for one in past.wordings if one.version == version), text)
        comes_to = "It is believed again, and near at hand. What it contradicts there is believed no longer."
        if await self.sure("Bring this back?" if version is None else "Bring this wording back?", text, comes_to, "bring it back"):
            self.wanted = key
            await self.did(self.game.knowledge.restore(key, version), "It is believed again.")

    def wording(self) -> int | None:
        """The version that the cursor in the detail is on, if it is in there and on one that is not the present one."""
        key = self.detail.cursor if self.detail.has_focus else ""
        if not key.startswith(WORDING):
            return None
        line = self.ground()
        version = int(key.removeprefix(WORDING))
        return version if line is None or version != line.row.version else None

    # who holds it

    @work(group="by-hand")
    async def action_rescope(self) -> None:
        """Ask who shall hold the piece under the cursor, with who would come to know it."""
        if (line := self.ground()) is None:
            return
        key = line.row.id
        now = f"{line.row.scope} {line.row.scope_id}".strip()

        async def foretell(holder: str) -> str:
            if holder == now and not line.waits:
                return "It is held so now."
            return await self._comes_to(line, *scope_of(holder))

        answer = await self.app.push_screen_wait(PickDialog("Who shall hold it?", self.holders(line.row.owner_id), now, foretell))
        if answer is not None:
            scope, scope_id = scope_of(answer)
            now_by = {"world": "everybody", "faction": f"the faction {scope_id}"}.get(scope) or self.called(scope_id)
            await self.did(self.game.knowledge.rescope(key, scope, scope_id), f"Held by {now_by} from now on.")

    async def _comes_to(self, line: KnowledgeLine, scope: Scope, scope_id: str) -> str:
        change = await self.game.knowledge.who_would_know(line.row.id, scope, scope_id, self.viewer)
        learn = self.knowing(change.learn) if change.learn else "nobody"
        told = [f"{capital(learn)} would come to know it."]
        if change.forget:
            keeps = is_wider((scope, scope_id), holder_of(line.row))
            told.append(f"{capital(self.knowing(change.forget))} {'would know it still.' if keeps else 'would not know it any more.'}")
        if not line.row.holds:
            told.append("It has ended, and would be believed again.")
        if line.waits:
            told.append("It waits: this decides on it.")
        return " ".join(told)

    def holders(self, owner: EntityId) -> list[Pick]:
        """Everybody who can hold a piece of somebody's, its owner first."""
        world = self.game.world
        members = {one: sum(one in agent.factions for agent in world.agents()) for one in self.game.knowledge.factions()}
        picks = [Pick(f"entity {owner}", f"{self.called(owner)} alone", "its owner")]
        picks += [Pick(f"faction {one}", f"the faction {one}", f"{number} in it") for one, number in members.items()]
        picks.append(Pick("world", "everybody", f"{len(world.agents())} minds"))
        return picks + [Pick(f"entity {one.id}", f"{self.called(one.id)} alone") for one in world.agents() if one.id != owner]


def scope_of(holder: str) -> tuple[Scope, str]:
    """A holder as the lists have it: `entity ID`, `faction NAME`, `world`."""
    kind, _, key = holder.partition(" ")
    return ("world", "") if kind == "world" else ("faction", key) if kind == "faction" else ("entity", key)
