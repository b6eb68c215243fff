"""What screens draw of knowledge: pieces, their past, the queue and the audit trail, told to one viewer, as values."""

from collections.abc import Sequence

from engine.memory.knowledge.history import Belief, Past, Wording
from engine.memory.knowledge.scopes import Holder, holder_of, holders, would_forget, would_know
from engine.mind.render import capital, render
from engine.mind.timewords import naturalize_time
from engine.mind.voice import names_of
from engine.records.base import EntityId, Record
from engine.records.knowledge import AuditRow, Cause, Knowledge, ReviewItem, Scope
from engine.records.tokens import referred
from engine.records.world import World
from engine.views import called

_AND_SO_ON = 3
"""Names that a list of people gives before it only counts the rest."""


class KnowledgeLine(Record):
    """A piece of knowledge as a pane draws it."""

    row: Knowledge
    text: str
    """As the viewer reads it; by true names for the narrator."""
    rationale: str
    owner: str
    """Who came to know it first, as the viewer calls it."""
    subject: str
    """Whom or what it is about; empty for no one."""
    holder: str
    """Who holds it, in words: `Mira`, `the harbour`, `everybody`."""
    since: str
    """Time words of when it began to hold."""
    until: str
    """Time words of when it ceased to; empty while it does not."""
    waits: str = ""
    """Why it waits for a person; empty when it does not."""


class WordingLine(Record):
    """How a piece was from one round to another."""

    version: int
    text: str
    first_round: int
    last_round: int | None
    """None for how it is now."""
    holds: bool
    confidence: float
    tier: str
    term: str
    scope: Scope
    holder: str
    cause: Cause | None
    """What changed it then."""
    why: str


class AuditLine(Record):
    """A row of the audit trail, told."""

    row: AuditRow
    before: str
    after: str
    why: str
    owner: str


class PastLine(Record):
    """All that is known of how a piece came to be what it is."""

    line: KnowledgeLine | None
    """None when it is no more."""
    wordings: tuple[WordingLine, ...]
    """Oldest first."""
    audit: tuple[AuditLine, ...]
    """Oldest first."""


class BeliefLine(Record):
    """A piece as somebody believed it at the end of a round."""

    line: KnowledgeLine
    """As it was then."""
    now: str
    """What has become of it: how it reads now, that it ended and when, or that it is no more; empty for nothing."""
    believers: tuple[str, ...] = ()
    """Who believed it, when that was asked."""


class ScopeChange(Record):
    """What another scope would come to, before it does."""

    scope: Scope
    scope_id: str
    holder: str
    """In words."""
    learn: tuple[EntityId, ...]
    """Who would come to know it."""
    forget: tuple[EntityId, ...]
    """Who would know it by its scope no longer. Widened, they keep it all the same."""
    told: str
    """For people: `Tom Reed and Ansa Pike would come to know it.`"""


class ReviewLine(Record):
    """A piece that waits for a person."""

    item: ReviewItem
    line: KnowledgeLine
    reason: str
    change: ScopeChange
    """What approving it would come to."""


def told(world: World, text: str, viewer: EntityId | None) -> str:
    """Stored text in the viewer's names; by true names for the narrator (None)."""
    return render(text, names_of(world, viewer, referred(text)))


def knowledge_line(world: World, row: Knowledge, viewer: EntityId | None, item: ReviewItem | None = None) -> KnowledgeLine:
    """A piece told to a viewer."""
    return KnowledgeLine(
        row=row, text=capital(told(world, row.content, viewer)), rationale=told(world, row.rationale, viewer),
        owner=_name(world, row.owner_id, viewer), subject=_name(world, row.subject_id, viewer) if row.subject_id else "",
        holder=holder_words(world, holder_of(row), viewer), since=naturalize_time(world.now, row.valid_from),
        until=naturalize_time(world.now, row.valid_to) if row.valid_to else "", waits=told(world, item.reason, viewer) if item else "",
    )


def speaks_of(line: KnowledgeLine, text: str) -> bool:
    """Whether words stand in a piece as it is told; case does not matter, and no words stand in all."""
    return " ".join(text.split()).casefold() in f"{line.text} {line.rationale} {line.row.topic_key}".casefold()


def holder_words(world: World, holder: Holder, viewer: EntityId | None = None) -> str:
    """A holder in words."""
    scope, key = holder
    return "everybody" if scope == "world" else f"the faction {key}" if scope == "faction" else _name(world, key, viewer)


def past_line(world: World, past: Past, viewer: EntityId | None, item: ReviewItem | None = None) -> PastLine:
    """The past of a piece, told to a viewer."""
    return PastLine(
        line=knowledge_line(world, past.now, viewer, item) if past.now else None,
        wordings=tuple(_wording(world, one, viewer) for one in past.wordings),
        audit=tuple(audit_line(world, row, viewer) for row in past.audit),
    )


def audit_line(world: World, row: AuditRow, viewer: EntityId | None = None) -> AuditLine:
    """A row of the audit trail, told to a viewer. Values that were changed keep their lines."""
    before, after, why = ("\n".join(told(world, one, viewer) for one in text.splitlines()) for text in (row.before, row.after, row.why))
    return AuditLine(row=row, before=before, after=after, why=why, owner=_name(world, row.owner_id, viewer) if row.owner_id else "")


def belief_line(world: World, belief: Belief, viewer: EntityId | None, believers: Sequence[EntityId] = ()) -> BeliefLine:
    """A belief of an earlier round, told to a viewer, with what has become of it."""
    then, now = belief.then, belief.now
    if now is None:
        since = "It is no more: it was deleted, or merged into another."
    elif now.valid_to is not None and then.valid_to is None:
        since = f"It ended {naturalize_time(world.now, now.valid_to)}."
    elif now.content != then.content:
        since = f"Now: {capital(told(world, now.content, viewer))}"
    else:
        since = ""
    who = tuple(capital(_name(world, one, viewer)) for one in believers)
    return BeliefLine(line=knowledge_line(world, then, viewer), now=since, believers=who)


def scope_change(
    world: World, row: Knowledge, to: Holder, keepers: Sequence[EntityId] = (), viewer: EntityId | None = None,
    twins: Sequence[Knowledge] = (),
) -> ScopeChange:
    """What another scope would come to. Who holds one of the `twins`, which say the same word for word, comes to know nothing."""
    known = {entity for twin in twins for entity in holders(world, twin)}
    reached, forget = would_know(world, row, to, keepers), would_forget(world, row, to)
    learn = tuple(entity for entity in reached if entity not in known)
    words = f"{_people(world, learn, viewer)} would come to know it." if learn else "Nobody would come to know it."
    if before := [entity for entity in reached if entity in known]:
        words += f" {_people(world, before, viewer)} know{'s' * (len(before) == 1)} it already, by another piece."
    return ScopeChange(scope=to[0], scope_id=to[1], holder=holder_words(world, to, viewer), learn=learn, forget=forget, told=words)


def knows(world: World, row: Knowledge, keepers: Sequence[EntityId] = ()) -> tuple[EntityId, ...]:
    """Who knows a piece now, in order of acting, those last who keep it though they left its faction."""
    return holders(world, row, keepers)


def _wording(world: World, one: Wording, viewer: EntityId | None) -> WordingLine:
    row = one.row
    return WordingLine(
        version=row.version, text=capital(told(world, row.content, viewer)), first_round=one.first_round, last_round=one.last_round,
        holds=row.holds, confidence=row.confidence, tier=row.tier, term=row.term, scope=row.scope,
        holder=holder_words(world, holder_of(row), viewer), cause=one.cause, why=told(world, one.why, viewer),
    )


def _name(world: World, entity: EntityId, viewer: EntityId | None) -> str:
    return called(world, entity, viewer) if entity in world.entities else entity


def _people(world: World, found: Sequence[EntityId], viewer: EntityId | None) -> str:
    names = [_name(world, entity, viewer) for entity in found]
    if len(names) > _AND_SO_ON + 1:
        names = [*names[:_AND_SO_ON], f"{len(names) - _AND_SO_ON} others"]
    return capital(" and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names))
