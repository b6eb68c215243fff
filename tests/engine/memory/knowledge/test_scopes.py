"""Who holds what, who would come to, and what one mind makes of what it holds in several scopes."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from engine.errors import KnowledgeError
from engine.memory.knowledge.scopes import checked, holders, is_wider, targets, would_forget, would_know
from engine.memory.knowledge.settling import probe
from engine.memory.knowledge.shadows import unshadowed
from engine.records.knowledge import Knowledge, NewKnowledge, PromotionPolicy
from engine.records.tokens import token
from engine.records.world import World

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

BRYN, GARETH, TOM, ODO, ANSA = "en_bryn", "en_stranger", "en_sailor", "en_monk", "en_smith"
G = token(GARETH)


@pytest.fixture
def world(inn: Inn) -> World:
    world = inn.world()
    for entity, factions in ((BRYN, ("harbour", "guild")), (TOM, ("harbour",)), (ODO, ("guild",))):
        world = inn.changed(world, entity, factions=factions)
    return world


def row(content: str = f"{G} owns a boat.", *, hour: int = 0, number: int = 1, **more: object) -> Knowledge:
    values: dict[str, object] = {
        "owner_id": BRYN, "subject_id": GARETH, "kind": "fact", "content": content, "confidence": 0.8, "scope_id": BRYN,
        "valid_from": datetime(1247, 3, 1, hour),
    }
    return probe(NewKnowledge.model_validate(values | more), number)


def test_a_scope_is_held_by_who_is_in_it(world: World) -> None:
    assert holders(world, row()) == (BRYN,)
    assert holders(world, row(scope="faction", scope_id="harbour")) == (BRYN, TOM)
    assert holders(world, row(scope="faction", scope_id="harbour"), [ODO, TOM]) == (BRYN, TOM, ODO)
    assert holders(world, row(scope="world", scope_id="")) == (BRYN, GARETH, TOM, ODO, ANSA)


def test_who_would_come_to_know_and_who_would_no_longer(world: World) -> None:
    assert would_know(world, row(), ("faction", "harbour")) == (TOM,)
    assert would_know(world, row(), ("faction", "harbour"), keepers=[TOM]) == ()
    assert would_know(world, row(scope="faction", scope_id="harbour"), ("world", "")) == (GARETH, ODO, ANSA)
    assert would_forget(world, row(scope="faction", scope_id="harbour"), ("entity", BRYN)) == (TOM,)
    assert would_forget(world, row(), ("world", "")) == ()


def test_widths() -> None:
    assert is_wider(("faction", "a"), ("entity", "x"))
    assert is_wider(("faction", "a"), ("faction", "b"))
    assert not is_wider(("entity", "x"), ("faction", "a"))
    assert not is_wider(("world", ""), ("world", ""))


def test_where_the_policy_lets_it_go(world: World) -> None:
    assert targets(world, row(), PromotionPolicy()) == (("entity", BRYN),)
    assert targets(world, row(), PromotionPolicy(scope="faction")) == (("faction", "harbour"), ("faction", "guild"))
    assert targets(world, row(owner_id=ANSA, scope_id=ANSA), PromotionPolicy(scope="faction")) == (("entity", ANSA),)
    assert targets(world, row(), PromotionPolicy(scope="world")) == (("world", ""),)
    assert targets(world, row(scope="world", scope_id=""), PromotionPolicy(scope="entity")) == (("world", ""),)


def test_a_holder_that_is_none_is_refused(world: World) -> None:
    assert checked(world, "faction", "guild") == ("faction", "guild")
    assert checked(world, "faction", "ghosts", ["ghosts"]) == ("faction", "ghosts")
    with pytest.raises(KnowledgeError, match="guild, harbour"):
        checked(world, "faction", "ghosts")
    with pytest.raises(KnowledgeError, match="mind"):
        checked(world, "entity", "th_lantern")


def test_ones_own_later_word_counts_over_what_others_hold_too() -> None:
    ours = row(hour=1, scope="faction", scope_id="harbour")
    sold = row(f"{G} sold the boat.", hour=3, number=2)
    water = row(f"{G} fears water.", hour=2, number=3, scope="world", scope_id="")
    assert unshadowed([ours, sold, water]) == [sold, water]
    assert unshadowed([ours, water]) == [ours, water]
    earlier = row(f"{G} sold the boat.", hour=0, number=2)
    assert unshadowed([ours, earlier]) == [ours, earlier]  # the harbour knows better by now
    world_wide = row(f"{G} sold the boat.", hour=3, number=2, scope="world", scope_id="")
    assert unshadowed([ours, world_wide]) == [ours, world_wide]  # what everybody holds is no nearer
