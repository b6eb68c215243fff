"""No prompt of any task holds an id, a name that its owner has not learned, or a value that is not its to know (invariant 1)."""

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.memory.recall.bearing import Asked, bearing
from engine.memory.recall.holdings import holding_of
from engine.mind.perception import as_perceived, perceivers
from engine.prompts import actor, alias, collapse, compression, handoff, narrating, validating
from engine.prompts.halves import choose_prompt, tell_prompt
from engine.prompts.judging import decode_prompt, referee_prompt
from engine.records.intents import Intent, Outcome
from engine.records.knowledge import Knowledge
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.policies import RecallPolicy
from engine.records.prompts import KnownThing, Prompt, Recollection
from engine.records.sessions import CollapsePolicy, Pursuit, Session, Turn
from engine.records.tokens import token
from engine.records.world import World
from tests.engine.mind.test_privacy import IDS, NOW, PLACES, TEXTS, Forbidden, intents, worlds

MINDS = IDS[:5]
FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def said_of(prompt: Prompt) -> str:
    """What a prompt says beside its template, which is the same for everybody."""
    return "\n".join(message.content for message in prompt.messages if message.role == "user")


def lived(world: World, viewer: str, happened: list[Intent], place: str) -> list[BufferEntry]:
    """What the viewer keeps of events; its thoughts are its own words."""
    found = []
    for seq, intent in enumerate(happened, 1):
        grasp = dict(perceivers(world, intent, place)).get(viewer)
        if grasp is None:
            continue
        if intent.type == "monologue":
            intent = intent.model_copy(update={"text": "Hm."})
        found.append(
            BufferEntry(
                id=f"buf-{seq:06}", seq=seq, owner_id=viewer, timestamp=NOW - timedelta(minutes=seq), location_id=place, round=1,
                intent=as_perceived(intent, viewer, grasp).model_copy(update={"place": place}), grasp=grasp,
                outcome=Outcome(is_valid=False, reason=f"{token(viewer)} knows why") if intent.type == "action" else None,
            )
        )  # fmt: skip
    return found


def remembered(viewer: str, contents: list[str], quote: str) -> list[LedgerEntry]:
    return [
        LedgerEntry(
            id=f"led-{n:06}", seq=n, owner_id=viewer, timestamp=NOW - timedelta(days=n), ended=NOW, location_id="hall", content=content,
            quotes=(quote,), importance=9, run_id="run-000001",
        )
        for n, content in enumerate(contents, 1)
    ]  # fmt: skip


def knowledge(viewer: str, contents: list[str], subject: str) -> list[Knowledge]:
    return [
        Knowledge(
            id=f"kno-{n:06}", seq=n, owner_id=viewer, subject_id=subject, kind="fact", content=content, rationale=content,
            topic_key="a_key", scope_id=viewer, confidence=0.5, session_id="ses-000001", turn_ids=("turn-000001",),
            valid_from=NOW - timedelta(hours=n), valid_to=NOW, created=NOW, created_round=1, updated=NOW, updated_round=1,
        )
        for n, content in enumerate(contents, 1)
    ]  # fmt: skip


@FEW
@given(worlds(), st.lists(intents(), min_size=1, max_size=5), st.sampled_from(PLACES), st.sampled_from(MINDS))
def test_of_what_was_lived_through(world: World, happened: list[Intent], place: str, viewer: str) -> None:
    entries = lived(world, viewer, happened, place)
    if not entries:
        return
    forbidden = Forbidden.to(world, viewer)
    first, handles = choose_prompt(world, viewer, entries, NOW)
    halves = [first, tell_prompt(world, viewer, [entries[:1], entries[1:]], handles, NOW)]
    for prompt in (handoff.build(world, viewer, entries, NOW)[0], *halves, narrating.build(world, viewer, entries)):
        forbidden.check(said_of(prompt))
        assert "buf-" not in prompt.text


@FEW
@given(worlds(), st.lists(TEXTS, min_size=1, max_size=4), TEXTS, st.sampled_from(MINDS), st.sampled_from(MINDS))
def test_of_what_is_remembered_and_known(world: World, contents: list[str], quote: str, viewer: str, subject: str) -> None:
    forbidden = Forbidden.to(world, viewer)
    known = knowledge(viewer, contents, subject)
    prompts = [
        compression.build(world, viewer, remembered(viewer, contents, quote), NOW)[0],
        validating.build(world, known[0], known[1:], NOW)[0],
    ]
    for prompt in prompts:
        forbidden.check(said_of(prompt))
        assert not any(sign in prompt.text for sign in ("led-", "run-", "kno-", "ses-", "turn-"))


@FEW
@given(
    worlds(), st.lists(st.tuples(TEXTS, st.sampled_from(["fact", "decision", "strategy"]), st.sampled_from(MINDS)), min_size=1, max_size=5),
    st.lists(TEXTS, max_size=3), st.sampled_from(MINDS), st.sets(st.sampled_from(IDS), max_size=4),
)  # fmt: skip
def test_of_what_is_known_and_in_hand(
    world: World, told: list[tuple[str, str, str]], tasks: list[str], viewer: str, here: set[str]
) -> None:
    rows = [
        row.model_copy(update={"kind": kind, "owner_id": owner, "valid_to": None, "subject_id": owner})
        for row, (_, kind, owner) in zip(knowledge(viewer, [text for text, _, _ in told], viewer), told, strict=True)
    ]
    lines, _ = bearing(holding_of(rows, {}, 4), Asked(viewer, here, here, (), None, NOW, 0.3, 0.3))
    assert {line.source for line in lines} >= {row.id for row in rows if row.subject_id in here - {viewer}}
    pursued = [
        Pursuit(session_id=f"ses-{n:06}", actor_id=other, tasks=tuple(tasks), scratch={f"of {token(other)}": token(other)})
        for n, other in enumerate(sorted(set(IDS) - {viewer}))
    ]
    prompt = actor.build(
        world, viewer, (), Recollection(query=""), [KnownThing(source=line.source, text=line.text) for line in lines],
        actor.Room(8192, len), RecallPolicy(), pursued,
    )
    shown = "\n".join(section.text for section in prompt.sections if section.key in ("knowledge", "intentions"))
    Forbidden.to(world, viewer).check(shown)
    assert not any(sign in prompt.text for sign in ("kno-", "ses-", "turn-", "a_key"))


@FEW
@given(
    worlds(), st.lists(st.tuples(TEXTS, st.sampled_from(["agent", "actor", "note"])), min_size=1, max_size=5), TEXTS,
    st.permutations(MINDS), st.booleans(),
)  # fmt: skip
def test_of_what_was_dealt_with(world: World, words: list[tuple[str, str]], noted: str, minds: list[str], pinned: bool) -> None:
    viewer, other = minds[:2]
    session = Session(
        id="ses-000001", agent_id=viewer, actor_id=other, started=NOW, started_round=1, last_turn_at=NOW, policy=CollapsePolicy(),
        scratch={"hypothesis": noted, f"of {token(other)}": noted},
    )  # fmt: skip
    turns = [
        Turn.model_validate({
            "id": f"turn-{n:06}", "session_id": "ses-000001", "seq": n, "role": role, "content": text, "pinned": pinned, "hint": noted,
            "speaker_id": {"agent": viewer, "actor": other, "note": None}[role], "timestamp": NOW, "round": 1, "source_id": "buf-000001",
        })
        for n, (text, role) in enumerate(words, 1)
    ]  # fmt: skip
    prompt, handles = collapse.build(world, session, turns, knowledge(viewer, [noted], other), NOW)
    Forbidden.to(world, viewer).check(said_of(prompt))
    assert not any(sign in prompt.text for sign in ("led-", "run-", "kno-", "ses-", "turn-", "buf-"))
    assert [handles.id(f"M{n}") for n in range(1, len(turns) + 1)] == [turn.id for turn in turns]
    assert (handles.id("P1"), handles.id("P2"), handles.id("K1")) == (viewer, other, "kno-000001")


@FEW
@given(worlds(), st.sampled_from(MINDS), st.sampled_from(IDS), intents())
def test_of_what_is_seen(world: World, viewer: str, target: str, intent: Intent) -> None:
    forbidden = Forbidden.to(world, viewer)
    if target != viewer:
        forbidden.check(said_of(alias.build(world, viewer, target)))
    forbidden.check(said_of(decode_prompt(world, viewer, "I nod.")[0]))
    if intent.type == "action":
        own = intent.model_copy(update={"actor": viewer, "text": "I do it."})
        forbidden.check(said_of(referee_prompt(world, own)[0]))
