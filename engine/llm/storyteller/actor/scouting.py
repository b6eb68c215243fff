"""Going to see for oneself: which place a matter points to, looking round there, and coming back with something to say."""

import re

from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.language.names import head_noun
from engine.llm.storyteller.language.speechacts import stems_of
from engine.llm.storyteller.language.text import bare

_FRUITLESS = 2
"""Questions without an answer worth the name after which one goes to look for oneself."""
_OUTSIDE = re.compile(r"\b(?:quay|beach|shore|landing|roof|deck|pier|dock|bridge|road|street|square|green|hill)\b")
_SEEN = re.compile(r"\bHere: (?P<things>[^.]+)")


def pointed_to(stage: Stage) -> list[str]:
    """Places other than this that goals and talk of the last half hour speak of, once asking has led nowhere; likeliest first."""
    scene, situation = stage.scene, stage.situation
    asked = sum(event.mine and event.kind == "said" and event.act == "question" for event in scene.events)
    if asked < _FRUITLESS and scene.here:
        return []
    known = dict.fromkeys([*(way.place for way in scene.ways), *(end for event in scene.events if event.went for end in event.went)])
    goals = " ".join(goal.text for goal in scene.goals if goal.kind in ("find_out", "ask", "get", "go"))
    talk = " ".join(event.text for event in situation.fresh if event.kind == "said" and _matters(stage, event.stems))
    named = [place for text in (goals, talk) for place in known if _names(place, text)]
    been = {event.went[1] for event in scene.events if event.mine and event.went}
    return [place for place in dict.fromkeys(named) if place.casefold() != scene.place.casefold() and place not in been]


def _matters(stage: Stage, stems: frozenset[str]) -> bool:
    return any(goal.stems & stems for goal in stage.scene.goals)


def _names(place: str, text: str) -> bool:
    noun = head_noun(place).casefold()
    whole = bare(place).casefold()
    lower = text.casefold()
    return whole in lower or (len(noun) > 3 and noun not in ("room", "house") and re.search(rf"\b{re.escape(noun)}\b", lower) is not None)


def look_round(stage: Stage) -> Plan | None:
    """A look round a place that one has come to because a goal speaks of it."""
    scene, situation = stage.scene, stage.situation
    if not situation.just_arrived or scene.dark:
        return None
    wanted = any(_names(scene.place, goal.text) for goal in scene.goals if goal.kind in ("find_out", "ask", "get"))
    talked = any(_names(scene.place, event.text) for event in scene.events if event.kind == "said")
    if not (wanted or talked) or stage.dice.share("look round") > 0.85:
        return None
    if scene.awake_here and not wanted:
        return None
    return Plan(before=[stage.dice.line("reacting.look_for", place=scene.place)])


def come_back(stage: Stage) -> Plan | None:
    """A word about where one has been, to somebody found on coming back."""
    situation, scene, dice = stage.situation, stage.scene, stage.dice
    others = [name for name in stage.others() if not stage.mind.foe(name)]
    if not situation.just_arrived or not others:
        return None
    mine = [event for event in scene.events if event.mine and event.kind == "done"]
    last = next((event.went for event in reversed(mine) if event.went), None)
    looks = [event for event in mine if event.found and re.match(r"(?:looked|searched|examined|inspected|scanned|studied)\b", event.text)]
    if last is None or not looks or not looks[-1].fresh:
        return None
    place = last[0]
    where = f"{_preposition(place)} {place}"
    seen = _SEEN.search(looks[-1].found)
    things = [one.strip() for one in seen["things"].split(",")] if seen else []
    things = [one for one in things if one not in scene.people and bare(one) != one and not _hidden(stage, one)]
    to = dice.pick(others, "tell on coming back")
    if things:
        return Plan(words=dice.line("reacting.found", thing=things[0], where=where, place=place), to=to)
    return Plan(words=dice.line("reacting.come_back", where=where, place=place), to=to)


def _hidden(stage: Stage, thing: str) -> bool:
    return any(stems_of(thing) & stems_of(topic) for topic in stage.mind.hidden_topics)


def _preposition(place: str) -> str:
    return "on" if _OUTSIDE.search(place.casefold()) else "in"
