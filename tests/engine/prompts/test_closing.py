"""What decode and referee may reply under a grammar: their own handles, in the room that there is."""

import json
import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.llm.tokens import estimate_tokens
from engine.mind.handles import Handles
from engine.prompts.closing import decode_reply, referee_reply
from engine.prompts.judging import decode_prompt, referee_prompt
from engine.records.intents import Intent
from engine.records.limits import bounds_of, fullest, room
from engine.records.wire import DecodeReply, WireIntent
from engine.records.world import World


def decoded(shape: type[DecodeReply]) -> tuple[int, int]:
    """How many intents there may be, and how many characters of prose each may hold."""
    whole = json.loads(fullest(shape, {"targets": ("P2",)}))["intents"]
    return len(whole), len(whole[0]["text"])


def test_targets_are_everybody_and_every_way_but_oneself(room: World) -> None:
    _, handles = decode_prompt(room, "ada_1", "I nod.")
    assert decode_reply(handles, "ada_1", "I nod.", estimate_tokens, 8192).choices == {"targets": ("P2", "P3", "L1")}


def test_who_is_alone_has_no_targets(room: World) -> None:
    handles = Handles()
    handles.of("ada_1")
    closed = decode_reply(handles, "ada_1", "I nod.", estimate_tokens, 8192)
    assert closed.choices == {"targets": ()}
    [inner] = {type(one) for one in closed.shape.model_validate_json(fullest(closed.shape, {})).intents}
    assert issubclass(inner, WireIntent)
    assert bounds_of(inner.model_fields["targets"])["maxItems"] == 0


def test_a_judgement_is_of_what_stands_in_its_prompt(room: World) -> None:
    intent = Intent(type="action", text="I hand over the key.", summary="handed {{e:th_key}} to {{e:bo_1}}", actor="ada_1")
    _, handles = referee_prompt(room, intent)
    closed = referee_reply(handles, estimate_tokens)
    assert closed.choices == {"target": ("P1", "P2", "P3", "L1"), "to": ("", "P1", "P2", "P3", "L1")}


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(length=st.integers(1, 6000), window=st.integers(512, 40_000))
def test_the_longest_reply_fits_and_holds_the_prose_if_anything_does(room: World, length: int, window: int) -> None:
    prose = "word " * (length // 5) + "x" * (length % 5)
    _, handles = decode_prompt(room, "ada_1", prose)
    closed = decode_reply(handles, "ada_1", prose, estimate_tokens, window)
    count, held = decoded(closed.shape)
    assert estimate_tokens(fullest(closed.shape, closed.choices)) < room_of(closed) <= closed.max_tokens <= 1600
    assert count >= 3
    assert held >= min(length, 200)
    if length <= 250:
        assert count >= 3
        assert held >= length
    if length <= 250 and window >= 4096:
        assert count >= 6
    assert estimate_tokens(fullest(referee_reply(handles, estimate_tokens).shape, {"target": ("P10",), "to": ("P10",)})) < 300


def room_of(closed: object) -> int:
    return room(closed.shape, closed.choices, estimate_tokens)  # type: ignore[attr-defined]


def test_prose_without_end_is_closed_at_once(room: World) -> None:
    _, handles = decode_prompt(room, "ada_1", "x")
    begun = time.process_time()
    assert decode_reply(handles, "ada_1", "I talk. " * 500_000, estimate_tokens, 8192).max_tokens <= 1600
    assert time.process_time() - begun < 1
