"""What a person does to knowledge: add, edit, delete, restore. Each function that writes runs inside one transaction of its own."""

import re
import sqlite3
from typing import Final

from pydantic import Field

from engine.errors import KnowledgeError
from engine.memory.hand_words import account, check_third_person
from engine.memory.knowledge.arriving import Arrival, alike, arrive, settle_new
from engine.memory.knowledge.placing import Origin
from engine.memory.knowledge.scopes import Holder, holder_of
from engine.memory.knowledge.settling import probe
from engine.records.base import EntityId, Record
from engine.records.clean import one_line
from engine.records.knowledge import Knowledge, KnowledgeId, KnowledgeKind, NewKnowledge, Sensitivity
from engine.records.tokens import referred, token
from engine.records.world import World
from engine.storage.store import Store

LONGEST_TOPIC: Final = 40
_NO_KEY: Final = re.compile(r"[\W_]+")


class KnowledgeEdit(Record):
    """A piece of knowledge in a person's words. What is None stays as it was."""

    content: str | None = None
    """May name people as the owner knows them, by true names, as `@id` or by reference tokens."""
    rationale: str | None = None
    subject_id: EntityId | None = None
    """Empty for no one subject."""
    topic_key: str | None = None
    """In any words; kept in small letters, joined by `_`."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    importance: int | None = Field(default=None, ge=1, le=10)
    sensitivity: Sensitivity | None = None
    pinned: bool | None = None
    """A pinned piece never sinks, and no merge rewords it."""


def draft(
    world: World, owner: EntityId, text: str, *, holder: Holder, kind: KnowledgeKind = "fact", subject: EntityId | None = None,
    topic: str = "", rationale: str = "", confidence: float = 1.0, importance: int = 5, sensitivity: Sensitivity = "plain",
    pinned: bool = False,
) -> NewKnowledge:
    """Knowledge in a person's words, as it would be kept: long-term, since a person vouches for it. Raises `CommandError`. Pure."""
    if owner not in world.entities or not world.entities[owner].agent:
        raise KnowledgeError("Only somebody with a mind can know something.", "Choose one of the people.", kind="unknown_entity")
    if not 0 <= confidence <= 1:
        raise KnowledgeError(f"A confidence of {confidence:g} is none.", "Give a number from 0 to 1.", kind="bad_value")
    if not 1 <= importance <= 10:
        raise KnowledgeError(f"An importance of {importance} is none.", "Give a number from 1 to 10.", kind="bad_value")
    content = account(world, owner, text)
    check_third_person(world, owner, content)
    return NewKnowledge(
        owner_id=owner, subject_id=_subject(world, subject) if subject else next(iter(referred(content)), None), kind=kind, content=content,
        rationale=account(world, owner, rationale) if rationale.strip() else "", topic_key=topic_key(topic), term="long", scope=holder[0],
        scope_id=holder[1], confidence=confidence, importance=importance, sensitivity=sensitivity, valid_from=world.now, pinned=pinned,
    )


def add(conn: sqlite3.Connection, store: Store, world: World, new: NewKnowledge) -> Arrival:
    """Write a drafted piece; what it contradicts is retired. Raises `KnowledgeError` when its holder knows it already."""
    if alike(conn, store, probe(new, 0), (new.scope, new.scope_id)) is not None:
        raise KnowledgeError("That is known already.", "Edit what is there.", kind="known_already")
    store.journal.note(conn, "hand", f"{token(new.owner_id)}: a piece of knowledge was written")
    return settle_new(conn, store, new, "written by hand", Origin("hand", world.now))


def edit(conn: sqlite3.Connection, store: Store, world: World, key: KnowledgeId, change: KnowledgeEdit) -> Arrival:
    """Put a piece into a person's words; the earlier ones stay readable. What it contradicts then is retired. One that is what it was
    is left as it is.

    Raises `CommandError` for a piece that is not there, for words that cannot be kept, and when its holder knows the new ones already.
    """
    row = living(conn, store, key)
    update: dict[str, object] = {
        name: value for name in ("confidence", "importance", "sensitivity", "pinned") if (value := getattr(change, name)) is not None
    }
    if change.content is not None:
        content = account(world, row.owner_id, change.content, [*referred(row.content), *([row.subject_id] if row.subject_id else [])])
        if content != row.content:  # what came so with its world may stay so
            check_third_person(world, row.owner_id, content)
        update["content"] = content
        if change.subject_id is None and row.subject_id not in referred(content) and row.subject_id in referred(row.content):
            update["subject_id"] = next(iter(referred(content)), None)
    if change.rationale is not None:
        update["rationale"] = account(world, row.owner_id, change.rationale, referred(row.rationale)) if change.rationale.strip() else ""
    if change.subject_id is not None:
        update["subject_id"] = _subject(world, change.subject_id)
    if change.topic_key is not None:
        update["topic_key"] = topic_key(change.topic_key)
    changed = row.model_copy(update=update)
    if changed == row:
        return Arrival(row)
    if changed.content != row.content and row.holds and alike(conn, store, changed, holder_of(row)) is not None:
        raise KnowledgeError("Those words are known already.", "Delete one of the two.", kind="known_already")
    store.journal.note(conn, "hand", f"{token(row.owner_id)}: a piece of knowledge was edited")
    return arrive(conn, store, changed, "edited", "by hand", Origin("hand", world.now))


def delete(conn: sqlite3.Connection, store: Store, world: World, key: KnowledgeId) -> Knowledge:
    """Take a piece away; `restore` brings it back. Returns it as it was. Raises `KnowledgeError`."""
    row = living(conn, store, key)
    store.knowledge.remove(conn, row, Origin("hand", world.now).change("deleted", "by hand"))
    store.journal.note(conn, "hand", f"{token(row.owner_id)}: a piece of knowledge was taken away")
    return row


def restore(conn: sqlite3.Connection, store: Store, world: World, key: KnowledgeId, version: int | None = None) -> Arrival:
    """Bring back a piece that was deleted, that has ended, or that has sunk; with `version` also put it as it read then. What it
    contradicts is retired. Raises `KnowledgeError` when there is nothing to bring back."""
    origin = Origin("hand", world.now)
    found = store.knowledge.get(conn, [key])
    versions = store.knowledge.versions(conn, key)
    if not found and not versions:
        raise KnowledgeError("There is no such knowledge.", "Choose one of the list.", kind="unknown_knowledge")
    was = None if version is None else next((one.before for one in versions if one.version == version), None)
    if version is not None and was is None:
        raise KnowledgeError(f"There is no version {version} of it.", f"There are {len(versions)}.", kind="unknown_knowledge")
    if not found:
        found = [store.knowledge.restore(conn, key, origin.change("restored", "by hand"))]
    elif was is None and found[0].holds and found[0].tier == "hot":
        raise KnowledgeError("It is believed, and near at hand: there is nothing to restore.", kind="nothing_to_do")
    [row] = found
    told = {} if was is None else {name: getattr(was, name) for name in ("content", "rationale", "subject_id", "topic_key", "confidence")}
    back = row.model_copy(update={**told, "valid_to": None, "superseded_by": None, "tier": "hot"})
    if (waiting := store.promotions.waiting_for(conn, key)) is not None:
        store.promotions.settle(conn, waiting.id)
    store.journal.note(conn, "hand", f"{token(row.owner_id)}: a piece of knowledge was brought back")
    why = "by hand" if version is None else f"by hand, as of version {version}"
    return arrive(conn, store, back, "restored", why, origin, row.superseded_by) if back != row else Arrival(row)


def living(conn: sqlite3.Connection, store: Store, key: KnowledgeId) -> Knowledge:
    """A piece that is there, believed or ended. Raises `KnowledgeError`."""
    found = store.knowledge.get(conn, [key])
    if found:
        return found[0]
    if store.knowledge.versions(conn, key):
        raise KnowledgeError("That was deleted, or merged into another.", "Restore it first.", kind="unknown_knowledge")
    raise KnowledgeError("There is no such knowledge.", "Choose one of the list.", kind="unknown_knowledge")


def topic_key(text: str) -> str:
    """A key in the words of a person: small letters, joined by `_`."""
    return _NO_KEY.sub("_", one_line(text).casefold()).strip("_")[:LONGEST_TOPIC].rstrip("_")


def _subject(world: World, subject: EntityId) -> EntityId | None:
    if not subject:
        return None
    if subject not in world.entities:
        raise KnowledgeError("Nobody and nothing here has that id.", "Choose one of the people or things.", kind="unknown_entity")
    return subject
