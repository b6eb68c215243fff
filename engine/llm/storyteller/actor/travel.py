"""Going from place to place, with a reason."""

import re

from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.actor.pursuits import goals_in_turn
from engine.llm.storyteller.actor.scene import Exit
from engine.llm.storyteller.actor.scouting import pointed_to
from engine.llm.storyteller.language.speechacts import stems_of

_EVERY = 7
"""Rounds between two journeys, at the least."""
_EVERY_ALONE = 3
_LONELY = 3
"""Deeds in a row with nobody by after which one looks for company."""
_ALARM = re.compile(r"\b(?:fire|help|murder|thief|treason)\b", re.IGNORECASE)
_STATES = ("open", "closed", "locked")
_BED = re.compile(
    r"\b(?:bed|bedroom|room|loft|cabin|quarters|bunk|dormitory|chamber|berth|home|hut|cottage|tent)s?\b"
    r"(?<!back room)(?<!taproom)"
)


def travel(stage: Stage) -> Plan | None:
    """Where the character goes now, if anywhere: to somebody who calls, away from somebody feared, where a goal leads."""
    scene, dice = stage.scene, stage.dice
    if not scene.ways:
        return None
    called = _called(stage)
    if called is not None:
        return _go(stage, called)
    lonely = not scene.awake_here and stage.situation.alone_for >= _LONELY
    if lonely and (way := _to_company(stage)) is not None:
        return _go(stage, way, again=stage.situation.alone_for > _LONELY)
    if stage.situation.just_arrived:
        return None
    if scene.here and dice.due("see for oneself", 4) and not _held_by_talk(stage) and (way := _to_see(stage)) is not None:
        return _go(stage, way)
    if not dice.due("journey", _EVERY if scene.here else _EVERY_ALONE):
        return None
    if _held_by_talk(stage):
        return None
    way = _away(stage) or _towards_goal(stage) or _restless(stage)
    return _go(stage, way) if way is not None else None


def _held_by_talk(stage: Stage) -> bool:
    """Whether it would be rude, or weak, to go now: something was asked, and not for the third time."""
    pending = stage.situation.pending
    if pending is None or pending.act not in ("threat", "question", "ask_name", "accusation", "request", "introduction"):
        return False
    return stage.situation.exchange(pending.who) < 3 or stage.dice.share("walk out") < 0.5


def for_sleeping(place: str) -> bool:
    """Whether people go to a place of this name to sleep."""
    return _BED.search(place.casefold()) is not None


def to_bed(stage: Stage) -> Plan | None:
    """The way to somewhere to sleep, when there is one and this is not it."""
    if for_sleeping(stage.scene.place):
        return None
    way = next((way for way in stage.scene.ways if way.state != "locked" and _BED.search(way.place.casefold())), None)
    return Plan(before=[stage.dice.line("stage.go", place=way.place)]) if way else None


def _called(stage: Stage) -> Exit | None:
    """The way to somebody who shouted for the character, or for anybody, from beyond."""
    for event in stage.situation.news:
        if event.kind != "said" or event.how != "shouted" or stage.scene.person(event.who):
            continue
        beyond = next((one for one in stage.scene.beyond if one.name == event.who), None)
        way = _way_to(stage, beyond.where) if beyond else None
        if way and (event.to_me or _ALARM.search(event.text) or stage.dice.share("heed") < 0.5):
            return way
    return None


def _away(stage: Stage) -> Exit | None:
    """A way out for one who would avoid somebody here."""
    feared = [goal.who for goal in stage.scene.goals if goal.kind == "avoid" and stage.scene.person(goal.who)]
    return _any_way(stage) if feared else None


def _towards_goal(stage: Stage) -> Exit | None:
    scene = stage.scene
    for goal in goals_in_turn(stage)[: 1 if stage.others() else 3]:
        if goal.kind == "go" and goal.place and goal.place.casefold() != scene.place.casefold():
            return _way_to(stage, goal.place) or _any_way(stage)
        if goal.kind in ("keep", "avoid", "other") or not goal.who or scene.person(goal.who):
            continue
        beyond = next((one for one in scene.beyond if one.name == goal.who), None)
        where = beyond.where if beyond else stage.situation.last_seen(goal.who)
        way = _way_to(stage, where) if where and where != scene.place else None
        if way is None and not where and stage.dice.share("search") < 0.5:
            way = _any_way(stage)
        if way is not None:
            return way
    return None


def _restless(stage: Stage) -> Exit | None:
    """Now and then one goes because it is lonely here, or because everything has been said."""
    chance = 0.8 if not stage.scene.here else 0.2
    return _any_way(stage) if stage.dice.share("restless") < chance else None


def _way_to(stage: Stage, place: str) -> Exit | None:
    """The way that leads to a place, or begins the shortest road there that the character has heard of."""
    step = _first_step(stage, place.casefold())
    found = [way for way in stage.scene.ways if way.place.casefold() == step]
    return min(found, key=lambda way: _STATES.index(way.state) if way.state in _STATES else 0, default=None)


def _first_step(stage: Stage, goal: str) -> str:
    """The next place on the way to one whose name stands in `goal`; empty when no road is known. Roads are known from goings seen."""
    scene = stage.scene
    roads: dict[str, list[str]] = {}
    for event in scene.events:
        if event.went:
            start, end = event.went[0].casefold(), event.went[1].casefold()
            roads.setdefault(start, []).append(end)
            roads.setdefault(end, []).append(start)
    passable = sorted(scene.ways, key=lambda way: way.state == "locked")
    queue = [(way.place.casefold(), way.place.casefold()) for way in passable]
    seen = {scene.place.casefold()}
    for place, first in queue:  # grows while it is walked: nearest places first
        if place in goal or goal in place:
            return first
        if place not in seen:
            seen.add(place)
            queue.extend((further, first) for further in roads.get(place, []))
    return ""


def _to_company(stage: Stage) -> Exit | None:
    """The way to where people are seen, else to where they were last, else anywhere."""
    for one in stage.scene.beyond:
        if one.awake and (way := _way_to(stage, one.where)) is not None and way.state != "locked":
            return way
    for event in reversed(stage.scene.events):
        if event.went and (way := _way_to(stage, event.went[1] if not event.mine else event.went[0])) is not None and way.state != "locked":
            return way
    open_ways = [way for way in stage.scene.ways if way.state != "locked"]
    return open_ways[stage.dice.turn(len(open_ways), "company")] if open_ways else None


def _to_see(stage: Stage) -> Exit | None:
    """The way to a place that goals and talk point to, when asking has led nowhere."""
    return next((way for place in pointed_to(stage) if (way := _way_to(stage, place)) is not None), None)


def _any_way(stage: Stage) -> Exit | None:
    """A way that is not locked: where people are seen first, else each in turn, but not one that was taken lately."""
    scene = stage.scene
    taken = {event.went for event in scene.events if event.mine and event.went}
    ways = [way for way in scene.ways if way.state != "locked" and (scene.place, way.place) not in taken]
    if not ways:
        return None
    lively = [way for way in ways if any(way.place in one.where for one in scene.beyond)]
    choices = lively if lively and stage.dice.share("company") < 0.6 else ways
    return choices[stage.dice.turn(len(choices), "way", slow=_EVERY)]


def _go(stage: Stage, way: Exit, *, again: bool = False) -> Plan | None:
    scene, dice = stage.scene, stage.dice
    if not again and (scene.place, way.place) in {event.went for event in scene.events if event.mine and event.went}:
        return None
    if way.state == "locked":
        return _locked(stage, way)
    talked = [name for name in stage.others() if stage.situation.exchange(name) >= 2]
    going = dice.line("stage.go", place=way.place)
    if way.state == "closed" and dice.due("leave it open", 9):
        going = f"open {way.door} and go to {way.place}"  # it stays open: others will hear more than they should
    plan = Plan(after=[going])
    if talked and dice.share("farewell") < 0.5:
        plan.words, plan.to = dice.line("names.farewell"), talked[-1]
    return plan


def _locked(stage: Stage, way: Exit) -> Plan | None:
    """A locked way: unlock it with the one key carried, else try it once, else ask for the key."""
    keys = [thing for thing in stage.scene.carried if "key" in stems_of(thing)]
    tried = any(way.door in event.text for event in stage.situation.fresh if event.mine and event.kind == "done")
    if keys and not tried:
        return Plan(before=[f"unlock {way.door} with {keys[0]}"])
    if not tried:
        return Plan(before=[stage.dice.line("stage.try_way", door=way.door)])
    others = stage.others()
    asked = any(way.door in event.text for event in stage.situation.fresh if event.mine and event.kind == "said")
    if others and not asked:
        return Plan(words=stage.dice.line("asking.request_key", door=way.door), to=stage.dice.pick(others, "key holder"), tone="ask")
    return None
