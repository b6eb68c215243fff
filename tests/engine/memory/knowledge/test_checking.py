"""The call that holds a statement against others: what it says, what it leaves out, what is made of its reply."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from engine.errors import BadOutputError, ModelError
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.knowledge.checking import Checker
from engine.memory.knowledge.settling import probe
from engine.records.tokens import token
from tests.engine.memory.knowledge.conftest import verdict

if TYPE_CHECKING:
    from tests.engine.memory.knowledge.conftest import Minds

G = token("en_stranger")


async def test_handles_come_back_as_the_pieces_they_stand_for(minds: Minds) -> None:
    held = await minds.add(minds.new(f"{G} serves the Duke."), minds.new(f"{G} owns a mule."))
    checker = Checker(minds.script(verdict("contradicted", "K2", "K9", "k2", "P1")), minds.events.append)
    found = await checker.judge(minds.world, probe(minds.new(f"{G} sold the mule."), 1), held)
    assert (found.verdict, found.against) == ("contradicted", (held[1].id,))
    assert found.tokens > 0
    [request] = minds.model.requests
    assert request.choices == {"against": ("K1", "K2")}
    assert held[0].id not in request.text


async def test_of_one_it_need_not_be_said_which(minds: Minds) -> None:
    held = await minds.add(minds.new(f"{G} serves the Duke."))
    checker = Checker(minds.script(verdict("supported")), minds.events.append)
    found = await checker.judge(minds.world, probe(minds.new(f"{G} is the Duke's man."), 1), held)
    assert (found.verdict, found.against) == ("supported", (held[0].id,))


async def test_what_does_not_fit_the_window_is_left_out_the_farthest_first(minds: Minds) -> None:
    held = await minds.add(*[minds.new(f"{G} keeps {word * 60} in the cellar.") for word in ("salt ", "rope ", "tar ", "oil ")])
    model = Scripted([verdict("unrelated")], context_window=700)
    await Checker(Router(model), minds.events.append).judge(minds.world, probe(minds.new(f"{G} keeps nothing."), 1), held)
    [request] = model.requests
    assert "salt salt" in request.text
    assert "oil oil" not in request.text


async def test_a_window_for_not_even_one_is_told_with_what_to_do(minds: Minds) -> None:
    held = await minds.add(minds.new(f"{G} keeps {'salt ' * 300} in the cellar."))
    model = Scripted([verdict("unrelated")], context_window=400)
    with pytest.raises(ModelError, match="Route the task validate"):
        await Checker(Router(model), minds.events.append).judge(minds.world, probe(minds.new(f"{G} keeps nothing."), 1), held)
    assert model.requests == []


async def test_a_reply_that_is_none_is_asked_for_once_more_and_then_fails(minds: Minds) -> None:
    held = await minds.add(minds.new(f"{G} serves the Duke."))
    bad = json.dumps({"reason": "x", "verdict": "perhaps"})
    checker = Checker(minds.script(bad, bad), minds.events.append)
    with pytest.raises(BadOutputError):
        await checker.judge(minds.world, probe(minds.new(f"{G} serves nobody."), 1), held)
    assert len(minds.model.requests) == 2
