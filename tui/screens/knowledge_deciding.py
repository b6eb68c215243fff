"""What a reader decides on the Knowledge screen: what waits, promotions, and who is in which faction."""

from collections.abc import Awaitable, Sequence
from datetime import timedelta

from textual import work

from engine.errors import OthermindsError
from engine.knowledge_views import ReviewLine
from engine.records.knowledge import Knowledge, KnowledgeId, PromotionRun
from tui.dialogs.knowledge_choice import Pick, PickDialog
from tui.dialogs.knowledge_factions import FactionsDialog
from tui.dialogs.knowledge_report import ReportDialog
from tui.panes.known import key_of, shortened
from tui.panes.paragraphs import gap, head, quiet, text
from tui.panes.rows import Row
from tui.screens.knowledge_hands import HandsScreen
from tui.taking_back import RUNNING, ask_and_turn
from tui.text import capital, count, plain

_TOLD = (
    ("promoted", "Promoted: long-term from now on"), ("merged", "Merged into what says the same"), ("flagged", "Waits for your word (2)"),
    ("discarded", "Let go"), ("retired", "Ended, for something stands against it"),
)
_FEW = 8
"""Pieces of one sort that are told word for word."""


class DecidingScreen(HandsScreen):
    """The queue, promotions and factions."""

    # what waits

    def waiting(self) -> ReviewLine | None:
        """What waits under the cursor."""
        return self.under if isinstance(self.under, ReviewLine) else None

    @work(group="by-hand")
    async def action_approve(self) -> None:
        """Let what waits become what it would."""
        if (item := self.waiting()) is not None:
            await self._decided(self.game.knowledge.approve(item.item.id), item)

    async def _decided(self, doing: Awaitable[Knowledge], item: ReviewLine) -> None:
        learned = f" {item.change.told.replace('would come to know it', 'know it now')}" if item.change.learn else ""
        await self.did(doing, f"Approved: long-term, held by {item.change.holder}.{learned} r in Known takes it back.")

    @work(group="by-hand")
    async def action_edit_and_approve(self) -> None:
        """Put what waits into one's own words, then let it become what it would."""
        if (item := self.waiting()) is not None and await self.edit(item.line, f"Then it is approved. {item.change.told}"):
            await self._decided(self.game.knowledge.approve(item.item.id), item)

    @work(group="by-hand")
    async def action_reject(self) -> None:
        """Let what waits go."""
        if (item := self.waiting()) is not None:
            told = "Rejected: it is believed no longer. o in Known shows what has ended, and b brings it back."
            await self.did(self.game.knowledge.reject(item.item.id), told)

    @work(group="by-hand")
    async def action_narrow(self) -> None:
        """Leave it to its owner alone."""
        item = self.waiting()
        line = item.line if item is not None else self.ground()
        if line is None:
            return
        owner = capital(self.called(line.row.owner_id))
        if item is None:
            change = await self.told(self.game.knowledge.who_would_know(line.row.id, "entity", line.row.owner_id, self.viewer))
            if change is None:
                return
            lost = self.knowing(change.forget)
            comes_to = f"{capital(lost)} will not know it any more." if lost else "Nobody knows less by that."
            if not await self.sure(f"Leave it to {plain(owner)} alone?", line.text, comes_to, "leave it to its owner"):
                return
        await self.did(self.game.knowledge.narrow(line.row.id), f"{owner} alone holds it, long-term. Nobody else comes to know it.")

    # promotions

    @work(group="by-hand")
    async def action_reverse(self) -> None:
        """Take the promotion of the piece under the cursor back, once the reader has said so."""
        item = self.under
        if item is None:
            return
        line, comes_to = self.ground(), "It is there again, short-term, beside what it was merged into."
        if line is not None:
            change = await self.told(self.game.knowledge.who_would_know(line.row.id, "entity", line.row.owner_id, self.viewer))
            if change is None:
                return
            gone = f" {capital(self.knowing(change.forget))} will not know it any more." if change.forget else ""
            comes_to = f"It becomes short-term and {self.called(line.row.owner_id)}'s own again.{gone} What ended for it is believed again."
        words = line.text if line is not None else getattr(item, "before", "").split("\n", 1)[0]
        if await self.sure("Take its promotion back?", words, comes_to, "take it back"):
            await self.did(
                self.game.knowledge.reverse(key_of(item)),
                lambda changed: f"Taken back: {count(len(changed), 'piece')} changed. It is promoted anew only when more is told of it.",
            )

    @work(group="by-hand")
    async def action_promote(self) -> None:
        """Promote now, and tell what was looked at and what became of it."""
        if self._promoting:
            self.say("Promotion is under way.")
            return
        self._promoting = True
        try:
            await self._promote()
        finally:
            self._promoting = False

    _promoting = False

    async def _promote(self) -> None:
        policy, world, desk = self.game.policies.promotion, self.game.world, self.game.knowledge
        old = world.now - timedelta(hours=policy.age_hours)
        try:
            short = [line for line in await desk.list(term="short", limit=10_000) if not line.waits]
            fit = [line for line in short if line.row.confidence >= policy.confidence and line.row.created <= old]
            whose = {"entity": "its owner's alone", "faction": "its owner's factions'", "world": "everybody's"}[policy.scope]
            sure_and_old = f"{policy.confidence:.0%} sure and {_ago(policy.age_hours)} old"
            if not fit:
                why = f"no short-term piece is {sure_and_old}" if short else "nothing is short-term"
                self.say(f"Nothing to promote: {why}.")
                return
            comes_to = (
                f"It looks at {count(len(fit), 'piece')}: short-term, at least {sure_and_old}. "
                f"What passes becomes long-term and {whose}; what is sensitive or doubtful waits for your word. A model may be asked."
            )
            if not await self.sure("Promote now?", "", comes_to, "promote"):
                return
            self.say("Promoting…")
            run = await desk.promote_now()
            if run is None:
                self.say("There was nothing to promote any more.")
                return
            rows = await self._told_run(run)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        self.say(f"{count(len(run.promoted), 'piece')} promoted, {len(run.flagged)} wait for your word.", "good")
        self.read()
        self.app.push_screen(ReportDialog("What promotion did", rows))

    async def _told_run(self, run: PromotionRun) -> list[Row]:
        tokens = f", {run.tokens:,} tokens" if run.tokens else ", no model was asked"
        rows = [quiet(f"It looked at {count(run.scanned, 'piece')}{tokens}.")]
        if run.error:
            rows.append(text(plain(run.error), ".bad"))
        rows += [quiet(plain(note)) for note in run.notes]
        for name, words in _TOLD:
            keys: Sequence[KnowledgeId] = getattr(run, name)
            if keys:
                rows += [gap(), head(f"{words} · {len(keys)}"), *[text(await self._told_piece(key)) for key in keys[:_FEW]]]
                rows += [quiet(f"and {len(keys) - _FEW} more")] if len(keys) > _FEW else []
        return rows

    async def _told_piece(self, key: KnowledgeId) -> str:
        past = await self.game.knowledge.history(key, self.viewer)
        if past.line is None:
            return shortened(past.wordings[-1].text)
        learned = f" (held by {past.line.holder})" if past.line.row.scope != "entity" else f" ({past.line.holder})"
        return shortened(past.line.text) + plain(learned)

    # taking back

    @work(group="by-hand")
    async def action_undo(self) -> None:
        """Show what would be taken back, and take it back when the reader says so."""
        await self._turn(back=True)

    @work(group="by-hand")
    async def action_redo(self) -> None:
        """Show what would be brought again, and bring it when the reader says so."""
        await self._turn(back=False)

    async def _turn(self, *, back: bool) -> None:
        if self.host.running:
            self.say(RUNNING, "bad")
            return
        try:
            nothing = await ask_and_turn(self.app, self.host, self.viewer, back=back)
        except OthermindsError as error:
            self.say(str(error), "bad")
            return
        if nothing:
            self.say(nothing)
        self.read()

    # factions

    @work(group="by-hand")
    async def action_factions(self) -> None:
        """Ask who is in which factions, with what joining would teach."""
        desk, whose = self.game.knowledge, self.asked.whose
        world = self.game.world
        entity = whose.key if whose.scope == "entity" else await self.app.push_screen_wait(
            PickDialog("Whose factions?", [Pick(one.id, self.called(one.id), ", ".join(one.factions)) for one in world.agents()])
        )
        if entity is None:
            return
        now = self.game.world.entities[entity].factions

        async def keep(factions: Sequence[str]) -> str:
            try:
                changes = await desk.set_factions(entity, factions)
            except OthermindsError as error:
                return str(error)
            told = [f"{'joined' if one.joined else 'left'} {one.faction}" for one in changes]
            self.say(f"{capital(self.called(entity))} has {', '.join(told)}." if told else "Nothing changed.", "good")
            return ""

        async def foretell(factions: Sequence[str]) -> list[Row]:
            return await self._joining(entity, now, factions)

        title = f"Factions of {self.called(entity)}"
        if await self.app.push_screen_wait(FactionsDialog(title, now, desk.factions(), foretell, keep)):
            self.read()

    async def _joining(self, entity: str, now: Sequence[str], then: Sequence[str]) -> list[Row]:
        """What somebody would learn and keep."""
        desk, who = self.game.knowledge, capital(self.called(entity))
        knows = {line.row.id for line in await desk.known_by(entity)}
        rows: list[Row] = []
        for faction in [one for one in then if one not in now]:
            held = [line for line in await desk.list(scope="faction", scope_id=faction, viewer=self.viewer) if line.row.id not in knows]
            rows.append(head(plain(f"Joining {faction}: {who} learns {count(len(held), 'piece')}")))
            rows += [text(shortened(line.text, 160)) for line in held[:_FEW]]
        for faction in [one for one in now if one not in then]:
            kept = len(await desk.list(scope="faction", scope_id=faction, limit=10_000))
            rows.append(head(plain(f"Leaving {faction}: {who} keeps the {count(kept, 'piece')} that it knows, and learns no more of it")))
        return rows or [quiet("Nothing changes.")]


def _ago(hours: float) -> str:
    return count(round(hours * 60), "minute") if hours < 1 else count(round(hours), "hour")
