"""The six operations on sessions, and reading them (DESIGN 9). A save is never changed by a request that is refused."""

from typing import Final

from engine.errors import SessionError
from engine.http.bodies import NoBody, NoteGiven, PinGiven, SessionBegun, SessionFilter, Told, TurnGiven, Wait
from engine.http.endpoint import Answer, Endpoint
from engine.http.faults import RefusedError
from engine.http.service import Service
from engine.records.sessions import CollapsePolicy, Turn
from engine.replies import CollapseState, Sessions, TurnAdded, collapse_state
from engine.session_told import SessionTold, SessionWhole, session_told, session_whole, turn_told

_ALL: Final = "/v1/memory/sessions"
_ONE: Final = f"{_ALL}/{{id}}"


async def start(service: Service, key: str, query: Told, body: SessionBegun) -> Answer:
    """Open a session; 201."""
    viewer, policy = service.viewer(query.viewer), None
    for name, entity in (("agent_id", body.agent_id), ("actor_id", body.actor_id)):
        service.viewer(entity, name)
    if body.policy is not None:
        terms = service.game.policies.sessions.of(body.agent_id)
        policy = CollapsePolicy.model_validate(terms.model_dump() | dict(body.policy.changes()))
    session = await service.game.sessions.start(body.agent_id, body.actor_id, policy)
    return Answer(session_told(service.game.world, session, viewer), 201, {"location": f"{_ALL}/{session.id}"})


async def add_turn(service: Service, key: str, query: Told, body: TurnGiven) -> Answer:
    """Add a turn; 201."""
    viewer, desk = service.viewer(query.viewer), service.game.sessions
    turn = await desk.add_turn(key, body.role, body.content, body.pinned, body.hint)
    return Answer(TurnAdded(turn=turn_told(service.game.world, turn, viewer), report=await desk.report(key)), 201)


async def pin(service: Service, key: str, query: Told, body: PinGiven) -> Answer:
    """Pin a turn or let go of it."""
    viewer = service.viewer(query.viewer)
    return Answer(turn_told(service.game.world, await service.game.sessions.pin(key, body.turn_id, body.pinned), viewer))


async def scratch(service: Service, key: str, query: Told, body: NoteGiven) -> Answer:
    """Write a note or take it away."""
    viewer = service.viewer(query.viewer)
    return Answer(session_told(service.game.world, await service.game.sessions.scratch(key, body.key, body.value), viewer))


async def collapse(service: Service, key: str, query: Wait, body: NoBody) -> Answer:
    """Have a session collapsed; 202 while that is under way, 200 when it is done. A collapsed one is answered with its summary."""
    viewer, desk = service.viewer(query.viewer), service.game.sessions
    tried = 0
    if (await desk.get(key)).status != "collapsed":
        tried = len(await desk.runs(key))
        await service.ready()
        try:
            await desk.collapse(key)
        except SessionError as error:  # it may have ended since it was looked at
            if error.kind != "closed_session" or (await desk.get(key)).status != "collapsed":
                raise
        else:
            if query.wait and (cap := await service.over(key, query.wait)) is not None:
                raise cap
    whole = session_whole(service.game.world, await desk.page(key, viewer), viewer)
    reply = collapse_state(whole)
    if reply.status == "discarded":
        raise SessionError("The session was discarded meanwhile.", "Nothing was taken from it.", kind="closed_session")
    newest = reply.collapse
    if reply.status == "collapsing" and newest is not None and newest.status == "failed" and len(whole.collapses) > tried:
        advice = "The session and its turns are as they were. Post again to try anew; `otherminds doctor` looks at the models."
        raise RefusedError("model_failed", newest.error or "The session could not be collapsed.", advice)
    return Answer(reply, 200 if reply.status == "collapsed" else 202)


async def discard(service: Service, key: str, query: Told, body: NoBody) -> Answer:
    """End a session without anything coming of it. One that is discarded already is answered the same."""
    viewer, desk = service.viewer(query.viewer), service.game.sessions
    try:
        gone = await desk.discard(key)
    except SessionError as error:
        if error.kind != "closed_session" or (gone := await desk.get(key)).status != "discarded":
            raise
    return Answer(session_told(service.game.world, gone, viewer))


async def listed(service: Service, key: str, query: SessionFilter, body: NoBody) -> Answer:
    """A page of sessions."""
    viewer = service.viewer(query.viewer)
    for name in ("agent", "actor"):
        service.viewer(getattr(query, name), name)
    found = await service.game.sessions.list(query.agent, query.status, actor=query.actor, before=query.before, limit=query.limit + 1)
    page = found[: query.limit]
    told = tuple(session_told(service.game.world, session, viewer) for session in page)
    return Answer(Sessions(sessions=told, next=page[-1].id if len(found) > query.limit else None))


async def one(service: Service, key: str, query: Told, body: NoBody) -> Answer:
    """A session with all that it holds."""
    viewer, desk = service.viewer(query.viewer), service.game.sessions
    await desk.get(key)
    return Answer(session_whole(service.game.world, await desk.page(key, viewer), viewer))


_IN: Final = {"bad_role": "role", "bad_text": "content"}

SESSION_WAYS: Final = (
    Endpoint(
        "GET", _ALL, "listSessions", "List sessions", listed, Sessions, query=SessionFilter, faults=(422,),
        about="The newest that fit every filter given, newest first.",
    ),
    Endpoint(
        "POST", _ALL, "startSession", "Start a session", start, SessionTold, query=Told, body=SessionBegun, success={201: "It is open."},
        faults=(409, 422),
        about="Of an agent with somebody or something else. A pair has one session at a time: while there is one, 409. What the policy "
        "leaves out is as the world has it for the agent.",
    ),
    Endpoint("GET", _ONE, "getSession", "Read a session", one, SessionWhole, query=Told, faults=(404, 422)),
    Endpoint(
        "DELETE", _ONE, "discardSession", "Discard a session", discard, SessionTold, query=Told, faults=(404, 409, 422),
        about="Ends it without anything coming of it, also while it is being collapsed. Idempotent: one that is discarded already is "
        "answered the same. One that is collapsed cannot be discarded: 409.",
    ),
    Endpoint(
        "POST", f"{_ONE}/turns", "addTurn", "Add a turn", add_turn, TurnAdded, query=Told, body=TurnGiven,
        success={201: "It is safe on disk."}, faults=(404, 409, 422), fields=_IN,
        about="What was said (`agent`, `actor`) or a remark (`note`), in order of arrival. Not idempotent: when no reply came, read the "
        "session before sending it again. At the limit of its policy the session is collapsed and takes no more: 409.",
    ),
    Endpoint(
        "POST", f"{_ONE}/pin", "pinTurn", "Pin a turn for collapse", pin, Turn, query=Told, body=PinGiven, faults=(404, 409, 422),
        about="Or let go of it. Idempotent.",
    ),
    Endpoint(
        "POST", f"{_ONE}/scratch", "scratch", "Update the scratchpad", scratch, SessionTold, query=Told, body=NoteGiven,
        faults=(404, 409, 422), fields={"bad_key": "key", "bad_text": "value"},
        about="Writes a note under a key, over what stood there; null takes it away. People may be named as the agent calls them, or as "
        "`@id`. Idempotent.",
    ),
    Endpoint(
        "POST", f"{_ONE}/collapse", "collapseSession", "Collapse a session into knowledge", collapse, CollapseState, query=Wait,
        success={200: "It is collapsed: the summary.", 202: "It is under way. Ask again, or read the session."},
        faults=(402, 404, 409, 422, 502),
        about="The collapse runs beside everything else; `wait` says for how long the reply may wait for it. Idempotent: posted again "
        "while it is under way it is left to that, and a session that is collapsed is answered with its summary, without asking a model. "
        "A collapse that is retried neither loses nor doubles knowledge. When the model fails (502) or a cap forbids the call (402) "
        "nothing is changed: the session stays marked with its turns, and posting again tries anew. A failure after the reply is found "
        "in `collapses` of the session. A discarded session cannot be collapsed: 409.",
    ),
)  # fmt: skip
"""All ways into sessions."""

