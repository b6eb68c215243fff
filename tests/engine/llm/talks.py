"""Sessions for the storyteller to sum up, through the engine's own prompts: Bryn, whose memory it is, and a stranger she deals with."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.mind.handles import Handles
from engine.prompts.collapse import build
from engine.records.knowledge import Knowledge, KnowledgeKind
from engine.records.prompts import Prompt
from engine.records.sessions import CollapsePolicy, Session, Turn
from engine.records.wire import CollapseReply
from engine.records.world import Attribute, Entity, Place, World

NOW = datetime(1247, 3, 1, 21, 0)
BRYN, STRANGER, GARETH, ORLA, KEY = "en_bryn", "en_stranger", "en_gareth", "en_orla", "th_key"
_PEOPLE = {BRYN: "the innkeeper", STRANGER: "the wet stranger", GARETH: "the tall sailor", ORLA: "the quiet nun"}
_NAMED = {GARETH: "Gareth", ORLA: "Orla Venn"}
"""How Bryn calls those that she knows by name."""
_HANDLE_OF = {"P1": BRYN, "P2": STRANGER, "P3": GARETH, "P4": ORLA}


def _world() -> World:
    entities = {
        key: Entity(
            id=key, agent=True, place="pl_bar", order=order, aliases=_NAMED if key == BRYN else {},
            attributes={
                "name": Attribute(name="name", value="Bryn Harrow" if key == BRYN else "x", known_to=(key,)),
                "label": Attribute(name="label", value=label, public=True),
            },
        )
        for order, (key, label) in enumerate(_PEOPLE.items())
    }  # fmt: skip
    key = Entity(id=KEY, holder=BRYN, place="pl_bar", order=9,
                 attributes={"label": Attribute(name="label", value="the iron key", public=True)})  # fmt: skip
    return World(
        slug="inn", name="The Inn", seed=5, now=NOW, round=20, places={"pl_bar": Place(id="pl_bar", name="the taproom")}, portals={},
        entities={**entities, KEY: key},
    )  # fmt: skip


WORLD = _world()


def turns_of(lines: Sequence[str]) -> list[Turn]:
    """Turns from lines such as `P2: I serve the Duke.`, `note: {{e:en_bryn}} nodded` and `P2 (to another): Come here.`"""
    found = []
    for number, line in enumerate(lines, 1):
        head, _, words = line.partition(": ")
        who, _, hint = head.partition(" (")
        role = "note" if who == "note" else "agent" if who == "P1" else "actor"
        found.append(Turn.model_validate({
            "id": f"turn-{number:06}", "session_id": "ses-000001", "seq": number, "role": role, "speaker_id": _HANDLE_OF.get(who),
            "content": words, "hint": hint.rstrip(")"), "timestamp": NOW - timedelta(minutes=len(lines) - number), "round": 3,
        }))  # fmt: skip
    return found


def session_of(policy: CollapsePolicy | None = None) -> Session:
    """Bryn's session with the stranger."""
    return Session(
        id="ses-000001", agent_id=BRYN, actor_id=STRANGER, started=NOW - timedelta(hours=1), started_round=2, last_turn_at=NOW,
        policy=policy or CollapsePolicy(),
    )  # fmt: skip


def row(
    number: int, content: str, key: str = "", kind: KnowledgeKind = "fact", *, hours: float = 4, until: datetime | None = None
) -> Knowledge:
    """Something that Bryn knows."""
    return Knowledge(
        id=f"kno-{number:06}", seq=number, owner_id=BRYN, kind=kind, content=content, topic_key=key, scope_id=BRYN, confidence=0.8,
        valid_from=NOW - timedelta(hours=hours), valid_to=until, created=NOW, created_round=1, updated=NOW, updated_round=1,
    )  # fmt: skip


def prompt_of(lines: Sequence[str], known: Sequence[Knowledge] = (), policy: CollapsePolicy | None = None) -> tuple[Prompt, Handles]:
    """The engine's prompt for a session. Gareth, Orla and the key are always among those it lists."""
    everybody = row(99, "{{e:en_gareth}}, {{e:en_orla}} and {{e:th_key}} are about.", "company")
    return build(WORLD, session_of(policy), turns_of(lines), [*known, everybody], NOW, context_window=8192)


def told(prompt: Prompt, *, seed: int = 5, attempt: int = 0) -> str:
    """The storyteller's reply as it stands."""
    request = ModelRequest(
        task=prompt.task, entity=prompt.entity, round=20, seed=seed, attempt=attempt, template=prompt.template, messages=prompt.messages
    )
    return asyncio.run(Storyteller().complete(request)).text


def summed_up(*lines: str, known: Sequence[Knowledge] = (), policy: CollapsePolicy | None = None) -> CollapseReply:
    """What the storyteller leaves of a session."""
    return CollapseReply.model_validate_json(told(prompt_of(lines, known, policy)[0]))


def facts(*lines: str) -> list[str]:
    """The contents of the facts of a session."""
    return [fact.content for fact in summed_up(*lines).facts]
