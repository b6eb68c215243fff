"""What the two calls between prose and consequence say of themselves and of their replies."""

from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.llm.tokens import estimate_tokens
from engine.records.intents import Intent
from engine.records.limits import room
from engine.records.wire import DecodeReply, RefereeReply
from engine.records.world import World
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee


async def test_a_decoding(house: World) -> None:
    reply = '{"intents":[{"type":"dialogue","verb":"say","targets":[],"text":"Hm.","summary":"","modifiers":[]}]}'
    model = Scripted([reply])
    actor = house.agents()[0].id
    [intent] = await Decoder(Router(model)).decode(house, actor, '"Hm."')
    assert intent.text == "Hm."
    [request] = model.requests
    assert (request.task, request.template) == ("decode", "decode.1")
    assert request.choices["targets"]
    assert "P1" not in request.choices["targets"]
    assert request.response is not None
    assert issubclass(request.response, DecodeReply)
    assert room(request.response, request.choices, estimate_tokens) <= request.max_tokens


async def test_a_judgement(house: World) -> None:
    model = Scripted(['{"reason":"It is easy.","possible":true,"minutes":1,"changes":[]}'])
    actor = house.agents()[0].id
    verdict = await Referee(Router(model)).judge(house, Intent(type="action", text="I juggle.", summary="juggled", actor=actor))
    assert verdict.outcome is not None
    assert verdict.outcome.is_valid
    [request] = model.requests
    assert (request.task, request.template) == ("referee", "referee.1")
    assert request.choices["to"] == ("", *request.choices["target"])
    assert request.response is not None
    assert issubclass(request.response, RefereeReply)
    assert room(request.response, request.choices, estimate_tokens) <= request.max_tokens
