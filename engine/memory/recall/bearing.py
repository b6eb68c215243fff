"""Which of the things that a mind knows bear on a moment, and how much: by whom they are about, by words, by meaning, or because it
decided them (DESIGN 8, item 7). Pure."""

import math
import re
from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np

from engine.memory.embedding import Vectors
from engine.memory.knowledge.activation import activation_of
from engine.memory.lore import Line
from engine.memory.recall.holdings import Holding, stems
from engine.prompts.scene import lower_first
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge
from engine.records.prompts import Leg
from engine.records.tokens import referred, token

LIMIT: Final = 8
"""Pieces at the most."""
_MISSED: Final = 5
"""Pieces that just missed which a receipt is given for."""
_DECIDED: Final = 3
"""Decisions at the most that are there for being decisions only."""
_WORDS: Final = 0.15
"""Share of what a piece says, by the rarity of its words, that the scene has to say too."""
_SUBJECT, _PRESENT = 0.4, 0.2
"""What it counts that a piece is about somebody in focus, or about somebody here who is not."""
_CONFIDENCE, _IMPORTANCE, _ACTIVATION = 0.2, 0.1, 0.1


class Asked(NamedTuple):
    """What knowledge is asked by."""

    viewer: EntityId
    focus: Collection[EntityId]
    present: Collection[EntityId]
    terms: Collection[str]
    """Words of the scene that may find something."""
    dense: Vectors | None
    """The scene's vector, when there is one."""
    now: datetime
    meaning: float
    """Share that the embedder's cosine deserves against words."""
    near: float
    """Cosine to the scene from which a piece bears on it."""
    by_person: bool = False
    """Whether a person asks: then nothing comes to mind by itself."""


def bearing(holding: Holding, asked: Asked) -> tuple[list[Line], list[Line]]:
    """The pieces that bear on the moment, best first, and those that just missed. Equal scores stand in order of writing."""
    scene = stems(" ".join(asked.terms))
    cosines = None if holding.vectors is None or asked.dense is None else np.vecdot(holding.vectors, asked.dense).tolist()
    found = [
        line for at, row in enumerate(holding.rows)
        if (line := _line(row, _share(holding, at, scene), cosines[at] if cosines is not None else 0.0, asked)) is not None
    ]
    ranked = sorted(found, key=lambda line: -line.score)
    chosen: list[Line] = []
    missed: list[Line] = []
    by_itself = 0
    for place, line in enumerate(ranked, 1):
        by_itself += not line.found_by
        if len(chosen) == LIMIT:
            missed.append(line._replace(why=f"{line.why}; ranked {place}, limit {LIMIT}"))
        elif not line.found_by and by_itself > _DECIDED:
            missed.append(line._replace(why=f"{line.why}, and {_DECIDED} other decisions come before it"))
        else:
            chosen.append(line)
    return chosen, missed[:_MISSED]


def told(row: Knowledge, viewer: EntityId) -> str:
    """A piece as its holder reads it, with reference tokens: `You decided: ...`, `When ...: ...`."""
    content = row.content.strip()
    if row.kind == "decision":
        own = row.owner_id == viewer
        plain = re.sub(rf"^{re.escape(token(viewer))} (?:has |have )?decided(?: that)? ", "", content) if own else content
        start = ("You decided" if own else "It was decided") + (" " if plain.startswith("to ") else ": ")
        reason = f" The reason: {row.rationale.strip()}" if row.rationale.strip() else ""
        return f"{start}{plain}{'.' if reason and not plain.endswith(('.', '!', '?')) else ''}{reason}"
    if row.kind == "strategy" and not re.match(r"(?:when|whenever|if)\b", content, re.IGNORECASE):
        return f"When {lower_first(content)}"
    return content


def _share(holding: Holding, at: int, scene: frozenset[str]) -> float:
    """How much of what a piece says the scene says too, 0 to 1."""
    words = holding.words[at]
    shared = words & scene
    if not shared:
        return 0.0
    rarity = holding.rarity  # sorted, for sums of floats depend on their order
    return sum(rarity[word] for word in sorted(shared)) / sum(rarity[word] for word in sorted(words))


def _line(row: Knowledge, share: float, cosine: float, asked: Asked) -> Line | None:
    """A piece with its score, or None when it does not bear on the moment."""
    about = {row.subject_id, *referred(row.content)} - {asked.viewer, None}
    focused, here = not about.isdisjoint(asked.focus), not about.isdisjoint(asked.present)
    decided = row.kind == "decision" and row.owner_id == asked.viewer and not asked.by_person
    ways: list[tuple[Leg, str]] = []
    if focused or here:
        ways.append(("people", "its subject is here" if here else "its subject is in focus"))
    if share >= _WORDS:
        ways.append(("words", "shares words with the scene"))
    if cosine >= asked.near:
        ways.append(("meaning", "means what the scene is about"))
    if not ways and not decided:
        return None
    why = [why for _, why in ways] + (["decided"] if decided else [])
    return Line(
        row.id, told(row, asked.viewer), confidence=row.confidence, why="; ".join(why), found_by=tuple(leg for leg, _ in ways),
        words=(1.0 - asked.meaning) * share,
        cosine=asked.meaning * cosine if cosine >= asked.near else 0.0,
        involved=_SUBJECT if focused else _PRESENT if here else 0.0,
        importance=_CONFIDENCE * row.confidence + _IMPORTANCE * row.importance / 10,
        recency=_ACTIVATION / (1.0 + math.exp(-activation_of(row, asked.now))),
    )
