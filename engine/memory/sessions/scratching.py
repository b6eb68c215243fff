"""What a thought leaves on a scratchpad: what its thinker takes to be so, and what it has ruled out (DESIGN 9). By rules; no model."""

import re
import sqlite3
from collections.abc import Mapping

from engine.mind.aliases import vocabulary
from engine.mind.referring import tokenize
from engine.records.base import EntityId
from engine.records.intents import Intent
from engine.records.sessions import SessionId
from engine.records.tokens import referred
from engine.records.world import World
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store

HYPOTHESIS, RULED_OUT = "hypothesis", "ruled_out"
LONGEST = 300
"""Characters of a note; what is longer is no note but a story."""

_SENTENCE = re.compile(r"[^.!?\u2026\n]+[.!?\u2026]*")
_EXCLUDES = re.compile(
    r"\b(?:can ?not (?:be|have)|can['\u2019]t (?:be|have)|could ?n(?:o|['\u2019])t (?:be|have)|it (?:is|was) not|it (?:is|was)n['\u2019]t"
    r"|(?:is|was)(?: not|n['\u2019]t) the|not (?:him|her|them) after all|rule(?:d|s)? out|no longer (?:suspect|believe|think))\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\b(?:perhaps|maybe|probably|I (?:suspect|think|believe|suppose|guess)|I wonder (?:if|whether)"
    r"|(?:must|might|may|could) (?:be|have)|(?:he|she|it|they|there) seems?)\b",
    re.IGNORECASE,
)


def notes_of(text: str) -> dict[str, str]:
    """The sentence of a thought that supposes something, and the one that rules something out: the last of each. Pure."""
    found: dict[str, str] = {}
    for sentence in (" ".join(each.split()) for each in _SENTENCE.findall(text)):
        key = RULED_OUT if _EXCLUDES.search(sentence) else HYPOTHESIS if _SUPPOSES.search(sentence) else ""
        if key and len(sentence) <= LONGEST:
            found[key] = sentence
    return found


def scratch(
    store: Store, conn: sqlite3.Connection, world: World, thought: Intent, sessions: Mapping[EntityId, SessionId], change: Change
) -> tuple[SessionId, ...]:
    """Note what a thought supposes on the scratchpads of those whom it is about, of `sessions`: all that the thinker has open, by whom
    they are with; with one alone there is no doubt whom it means. Returns the sessions that have changed."""
    notes = notes_of(thought.text)
    if not notes or not sessions:
        return ()
    names = vocabulary(world, thought.actor, [*sessions, *world.entities[thought.actor].aliases])
    notes = {key: tokenize(text, names) for key, text in notes.items()}
    meant = {*thought.targets, *referred(" ".join(notes.values()))}
    chosen = [key for other, key in sessions.items() if other in meant]
    if not meant & set(world.entities) and len(sessions) == 1:
        chosen = list(sessions.values())
    changed = []
    for key in chosen:
        session = store.sessions.get(conn, key)
        if session is not None and session.status == "open" and not notes.items() <= session.scratch.items():
            before, after = ("\n".join(f"{name}: {held[name]}" for name in notes if name in held) for held in (session.scratch, notes))
            now = session.model_copy(update={"scratch": {**session.scratch, **notes}})
            store.sessions.update(conn, now, change, before=before, after=after)
            changed.append(key)
    return tuple(changed)
