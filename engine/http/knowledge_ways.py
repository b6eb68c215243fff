"""Reading knowledge, its past, its audit trail, and what somebody believed (DESIGN 10). Nothing here changes anything."""

from typing import Final

from engine.http.bodies import Asked, AuditFilter, KnowledgeFilter, NoBody, Told
from engine.http.endpoint import Answer, Endpoint
from engine.http.service import Service
from engine.knowledge_views import KnowledgeLine, speaks_of
from engine.replies import Answered, PiecePast, Pieces, Trail

_ALL: Final = "/v1/memory/knowledge"
_HOLDING: Final = {"true": True, "false": False, "all": None}
_AT_ONCE: Final = 500
"""Pieces that are read at once when words are looked for."""


async def listed(service: Service, key: str, query: KnowledgeFilter, body: NoBody) -> Answer:
    """A page of knowledge."""
    viewer = service.viewer(query.viewer)
    for name in ("owner", "subject"):
        service.viewer(getattr(query, name), name)
    found: list[KnowledgeLine] = []
    after, more = query.after, True
    while more and len(found) <= query.limit:
        ahead = _AT_ONCE if query.text else query.limit + 1
        lines = await service.game.knowledge.list(
            owner=query.owner, scope=query.scope, scope_id=query.scope_id, tiers=query.tier, subject=query.subject, term=query.term,
            kind=query.kind, holding=_HOLDING[query.holding], after=after, limit=ahead, viewer=viewer,
        )
        found += [line for line in lines if speaks_of(line, query.text)]
        more = len(lines) == ahead
        after = lines[-1].row.seq if lines else after
    page = found[: query.limit]
    return Answer(Pieces(knowledge=tuple(page), next=page[-1].row.seq if len(found) > query.limit else None))


async def one(service: Service, key: str, query: Told, body: NoBody) -> Answer:
    """A piece with its past, also one that is no more."""
    viewer, desk = service.viewer(query.viewer), service.game.knowledge
    past = await desk.history(key, viewer)
    known_by = await desk.who_knows(key) if past.line is not None else ()
    sources = await desk.sources(key, viewer) if past.line is not None else ()
    return Answer(
        PiecePast(
            knowledge=past.line, known_by=tuple(known_by), sources=tuple(sources), wordings=past.wordings, audit=past.audit
        )
    )


async def trail(service: Service, key: str, query: AuditFilter, body: NoBody) -> Answer:
    """A page of the audit trail."""
    viewer = service.viewer(query.viewer)
    service.viewer(query.owner, "owner")
    found = await service.game.knowledge.audit(
        owner=query.owner, knowledge=query.knowledge, session=query.session, run=query.run, actions=query.action, causes=query.cause,
        first_round=query.first_round, last_round=query.last_round, before=query.before, limit=query.limit + 1, viewer=viewer,
    )
    page = found[: query.limit]
    return Answer(Trail(audit=tuple(page), next=page[-1].row.seq if len(found) > query.limit else None))


async def asked(service: Service, key: str, query: Asked, body: NoBody) -> Answer:
    """What somebody believed, asked in words."""
    viewer, desk = service.viewer(query.viewer), service.game.knowledge
    question = desk.question(query.q, viewer)
    found = await desk.answer(question, viewer)
    return Answer(Answered(question=question, beliefs=tuple(found)))


KNOWLEDGE_WAYS: Final = (
    Endpoint(
        "GET", _ALL, "listKnowledge", "List knowledge", listed, Pieces, query=KnowledgeFilter, faults=(422,),
        about="Pieces that fit every filter given, whoever holds them, in order of writing.",
    ),
    Endpoint(
        "GET", f"{_ALL}/ask", "askKnowledge", "Ask what somebody believed", asked, Answered, query=Asked, faults=(422,),
        fields={"unclear": "q"},
        about="What did Mira believe about Gareth at round 12?",
    ),
    Endpoint(
        "GET", f"{_ALL}/{{id}}", "getKnowledge", "Read a piece of knowledge with its past", one, PiecePast, query=Told, faults=(404, 422),
        about="Also one that was deleted or merged.",
    ),
    Endpoint(
        "GET", "/v1/memory/audit", "listAudit", "Read the audit trail", trail, Trail, query=AuditFilter, faults=(422,),
        about="What was done to sessions and knowledge, by what, and why; the newest rows that fit every filter given, newest first.",
    ),
)  # fmt: skip
"""All ways into knowledge."""
