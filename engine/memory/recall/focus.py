"""Whom an entity has in mind: its active focus (DESIGN 8, item 2). Pure."""

import re
from collections.abc import Mapping, Sequence

from engine.records.base import EntityId
from engine.records.memory import BufferEntry
from engine.records.policies import RecallPolicy
from engine.records.tokens import referred


def focus(
    owner: EntityId, entries: Sequence[BufferEntry], present: Sequence[EntityId], named: Mapping[str, EntityId], policy: RecallPolicy
) -> tuple[EntityId, ...]:
    """Entities whose history is recalled, most pressing first.

    `entries` is the owner's buffer in order of time, `present` the others here in fixed order, `named` the names by which
    the owner knows entities. With no more others present than `policy.focus_limit` all of them count, and beside them
    as many of the absent as were lately spoken of; in a crowd only the first few in focus do.
    """
    recent = [entity for entity in _scan(entries[-policy.focus_entries :], named) if entity != owner]
    limit = policy.focus_limit
    if len(present) > limit:
        return tuple([*recent, *(entity for entity in present if entity not in recent)][:limit])
    here = [entity for entity in recent if entity in present]
    here += [entity for entity in present if entity not in here]
    absent = [entity for entity in recent if entity not in present]
    return tuple(here + absent[:limit])


def _scan(entries: Sequence[BufferEntry], named: Mapping[str, EntityId]) -> list[EntityId]:
    """Those who acted, were meant or mentioned, newest entry first, each once."""
    found: dict[EntityId, None] = {}
    for entry in reversed(entries):
        if entry.grasp == "faint":
            continue  # a voice whose words did not carry: the owner does not know whose
        intent = entry.intent
        found.update(dict.fromkeys((intent.actor, *intent.targets, *referred(intent.summary))))
        if entry.intent.text:
            found.update(dict.fromkeys(_mentioned(intent.text, named)))
    return list(found)


def _mentioned(text: str, named: Mapping[str, EntityId]) -> list[EntityId]:
    """Entities whose name, as the owner knows it, stands in the text as whole words, in the order of the text."""
    places = []
    for name, entity in named.items():
        at = text.find(name)
        if at >= 0 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            places.append((at, entity))
    return [entity for _, entity in sorted(places)]
