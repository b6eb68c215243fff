"""Prompts of decode and referee in a crowd: cut to what the model reads, those who matter first, and cut again when it reads less."""

import json
import re

from engine.errors import ProviderError
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.records.intents import Intent
from engine.records.world import Attribute, Entity, World
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee

LOOKS = "a broad-shouldered sailor with a weathered face, a patched coat and a great many things to say about the weather of the coast"
INTENT = {"type": "action", "verb": "other", "targets": ["P2"], "text": "I bow to Bo.", "summary": "bowed to P2", "modifiers": []}
DECODED = json.dumps({"intents": [INTENT]})
JUDGED = json.dumps({"reason": "Anybody can bow.", "possible": True, "minutes": 0, "changes": []})


class Narrow(Scripted):
    """Reads fewer tokens than it says, and says so when it is asked."""

    def __init__(self, replies: list[str], says: int, reads: int) -> None:
        super().__init__(replies, context_window=says)
        self._reads, self.refused = reads, 0

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        if self.count_tokens(request.text) + request.max_tokens > self._reads:
            self.refused += 1
            self._context_window = self._reads
            raise ProviderError("The text is too long.", trouble="too_long")
        return await super().complete(request, heard)


def crowd(house: World, number: int) -> World:
    """The house with so many people more in its hall."""
    looks = {"appearance": Attribute(name="appearance", value=LOOKS, public=True)}
    people = {f"en_{n}": Entity(id=f"en_{n}", agent=True, place="pl_hall", order=10 + n, attributes=looks) for n in range(number)}
    return house.model_copy(update={"entities": {**house.entities, **people}})


def told(request: ModelRequest) -> int:
    """How many people and things a prompt names."""
    return len(re.findall(r"^P\d+: ", request.text, re.MULTILINE))


async def test_who_is_near_fits_into_the_window(house: World) -> None:
    model = Scripted([DECODED], context_window=2048)
    [intent] = await Decoder(Router(model)).decode(crowd(house, 200), "ada_1", "I bow to Bo.")
    assert intent.targets == ("bo_1",)
    [request] = model.requests
    assert model.count_tokens(request.text) + request.max_tokens <= 2048
    assert 2 < told(request) < 60


async def test_a_small_company_is_named_whole(house: World) -> None:
    model = Scripted([DECODED], context_window=8192)
    await Decoder(Router(model)).decode(crowd(house, 20), "ada_1", "I bow to Bo.")
    assert told(model.requests[0]) == 1 + 20 + 3 + 1  # Ada, the crowd, Bo and the things in the hall, Cyd in the yard


async def test_whom_a_deed_is_directed_at_is_always_named(house: World) -> None:
    world = crowd(house, 200)
    intent = Intent(type="action", verb="other", text="I bow.", summary="bowed to {{e:en_199}}", actor="ada_1", targets=("en_199",))
    model = Scripted([JUDGED], context_window=2048)
    verdict = await Referee(Router(model)).judge(world, intent)
    assert verdict.outcome is not None
    assert verdict.outcome.is_valid
    [request] = model.requests
    assert model.count_tokens(request.text) + request.max_tokens <= 2048
    handle = next(found for found in re.findall(r"bowed to (P\d+)", request.text))
    assert re.search(rf"^{handle}: ", request.text, re.MULTILINE)


async def test_what_proves_too_long_is_cut_and_sent_again(house: World) -> None:
    model = Narrow([DECODED, JUDGED], says=16_000, reads=2_500)
    world = crowd(house, 200)
    [intent] = await Decoder(Router(model)).decode(world, "ada_1", "I bow to Bo.")
    assert model.refused == 1
    model._context_window = 16_000
    verdict = await Referee(Router(model)).judge(world, intent)
    assert verdict.outcome is not None
    assert verdict.outcome.is_valid
    assert model.refused == 2
