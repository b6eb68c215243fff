"""Which knowledge a reader looks for, and reading it a page at a time: there may be tens of thousands of pieces."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from engine.records.base import EntityId
from engine.records.knowledge import AuditAction, KnowledgeKind, Term, Tier
from engine.storage.knowledge import ALL_TIERS
from tui.panes.known import Item, holds_words

if TYPE_CHECKING:
    from engine.knowledge_desk import KnowledgeDesk
    from engine.knowledge_views import AuditLine, KnowledgeLine, PastLine

State = Literal["believed", "ended", "both", "gone"]
_READ: Final = 250
"""Rows asked for at once: none of it holds up the screen."""
_GONE: Final[tuple[AuditAction, ...]] = ("deleted", "merged")


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose knowledge is looked at."""

    scope: Literal["all", "entity", "faction", "world"] = "all"
    key: str = ""
    """The entity or the faction."""


@dataclass(frozen=True, slots=True)
class Only:
    """What is left out of it; None for nothing."""

    state: State = "believed"
    kind: KnowledgeKind | None = None
    subject: EntityId | None = None
    tier: Tier | None = None
    term: Term | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """All that a reader asks of the list."""

    whose: Whose = Whose()
    only: Only = Only()
    words: tuple[str, ...] = ()
    """In lower case; all of them must stand in a piece."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of what fits, the newest first."""

    items: tuple[Item, ...]
    after: int = 0
    """Where the next page begins."""
    more: bool = False


async def read(desk: "KnowledgeDesk", asked: Asked, viewer: EntityId | None, wanted: int, after: int = 0) -> Page:
    """The next `wanted` items that fit, the newest first. Raises `OthermindsError`."""
    if asked.only.state == "gone":
        return await _gone(desk, asked, viewer, wanted, after)
    if asked.whose.scope == "entity" and asked.only.state != "ended":
        return await _believed(desk, asked, viewer, wanted, after)
    found: list[Item] = []
    while True:
        lines = await _listed(desk, asked, viewer, after)
        for line in lines:
            if holds_words(line, asked.words):
                if len(found) == wanted:
                    return Page(tuple(found), after, more=True)
                found.append(line)
            after = line.row.seq
        if len(lines) < _READ:
            return Page(tuple(found), after)


async def _listed(desk: "KnowledgeDesk", asked: Asked, viewer: EntityId | None, after: int) -> "Sequence[KnowledgeLine]":
    whose, only = asked.whose, asked.only
    return await desk.list(
        scope=None if whose.scope == "all" else whose.scope, scope_id=whose.key if whose.scope in ("entity", "faction") else None,
        tiers=(only.tier,) if only.tier else (), subject=only.subject, term=only.term, kind=only.kind,
        holding={"believed": True, "ended": False}.get(only.state), after=after, limit=_READ, newest=True, viewer=viewer,
    )


async def _believed(desk: "KnowledgeDesk", asked: Asked, viewer: EntityId | None, wanted: int, after: int) -> Page:
    """What an entity believes: also what its factions and everybody hold, and what it keeps of factions it has left."""
    only = asked.only
    tiers = (only.tier,) if only.tier else ALL_TIERS
    lines = list(await desk.known_by(asked.whose.key, tiers=tiers, subject=only.subject, term=only.term, viewer=viewer))
    if only.state == "both":
        lines += await _ended(desk, asked, viewer)
        lines.sort(key=lambda line: line.row.seq)
    fitting = await asyncio.to_thread(_fitting, lines, asked, after)  # there may be thousands
    shown = fitting[:wanted]
    return Page(tuple(shown), shown[-1].row.seq if shown else after, more=len(fitting) > wanted)


def _fitting(lines: "Sequence[KnowledgeLine]", asked: Asked, after: int) -> "list[KnowledgeLine]":
    """Those that are of the kind asked for and hold the words, the newest first."""
    kind, words = asked.only.kind, asked.words
    return [
        line for line in reversed(lines)
        if (not after or line.row.seq < after) and (kind is None or line.row.kind == kind) and holds_words(line, words)
    ]


async def _ended(desk: "KnowledgeDesk", asked: Asked, viewer: EntityId | None) -> "Sequence[KnowledgeLine]":
    """All that an entity by itself believes no longer."""
    found: list[KnowledgeLine] = []
    after = 0
    while True:
        lines = await _listed(desk, replace(asked, only=replace(asked.only, state="ended")), viewer, after)
        found += lines
        if len(lines) < _READ:
            return found
        after = lines[-1].row.seq


async def _gone(desk: "KnowledgeDesk", asked: Asked, viewer: EntityId | None, wanted: int, after: int) -> Page:
    """Pieces that were deleted, or merged into another, and have not come back: the trail tells of them."""
    whose = asked.whose
    found: list[Item] = []
    seen: set[str] = set()
    while True:
        rows: Sequence[AuditLine] = await desk.audit(
            owner=whose.key if whose.scope == "entity" else None, actions=_GONE, before=after or None, limit=_READ, viewer=viewer
        )
        for told in rows:
            key = told.row.knowledge_id
            if key and key not in seen and holds_words(told, asked.words) and _was_of(await desk.history(key, viewer), whose):
                if len(found) == wanted:
                    return Page(tuple(found), after, more=True)
                seen.add(key)
                found.append(told)
            after = told.row.seq
        if len(rows) < _READ:
            return Page(tuple(found), after)


def _was_of(past: "PastLine", whose: Whose) -> bool:
    """Whether a piece is no more, and was of whom one looks at."""
    if past.line is not None or not past.wordings:
        return False
    last = past.wordings[-1]
    return whose.scope in ("all", "entity") or (last.scope == whose.scope and (not whose.key or last.holder.endswith(f" {whose.key}")))
