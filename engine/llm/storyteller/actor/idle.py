"""What one does and thinks when nothing presses."""

import re

from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.actor.travel import for_sleeping, to_bed
from engine.llm.storyteller.language.persons import confessed, habit_of_oneself
from engine.llm.storyteller.language.speechacts import stems_of
from engine.llm.storyteller.phrases import lines

_REST = 11
"""Rounds before one does the same habit again, at the least."""
_HABITUAL = 0.75
"""Share of idle moments given to a habit whose turn it is."""


def bedtime(stage: Stage) -> Plan | None:
    """Late: to bed, or a yawn. Nobody falls asleep among people but in the small hours, or in a place to sleep."""
    scene, dice = stage.scene, stage.dice
    if not scene.late or any(event.act in ("threat", "accusation") for event in stage.situation.news if event.kind == "said"):
        return None
    if dice.share("sleep") < (0.25 if scene.deep_night else 0.08) and stage.situation.pending is None:
        if scene.deep_night or (for_sleeping(scene.place) and not stage.others()):
            return to_bed(stage) or Plan(before=[dice.line("stage.sleep")])
        if (bed := to_bed(stage)) is not None:
            return bed
    if dice.share("yawn") < 0.12:
        others = stage.others()
        if others and dice.share("say so") < 0.5:
            return Plan(words=dice.line("chatting.night"), to=dice.pick(others, "to whom"))
        return Plan(before=[dice.line("stage.yawn")], thought=dice.line("thoughts.night"))
    return None


def idle(stage: Stage) -> Plan:
    """A habit, a look, a thing in the hand."""
    dice = stage.dice
    plan = Plan(before=[_deed(stage)])
    if dice.share("idle thought") < 0.4:
        plan.thought = thought(stage)
    return plan


def habit(stage: Stage) -> str:
    """The habit whose turn it is; empty when it is none's, or when it does not fit the place.

    Each has its turn once in eleven rounds or more, so that it need never be dressed up to look new.
    """
    habits = stage.scene.habits
    if not habits:
        return ""
    at = stage.dice.turn(len(habits) * -(-_REST // len(habits)), "habit")
    if at >= len(habits) or not _fits_here(stage, habits[at]):
        return ""
    return habit_of_oneself(habits[at], stage.scene.gender)


def _fits_here(stage: Stage, text: str) -> bool:
    """Whether the fixtures a habit needs may be here: a hearth, a counter, a door by name."""
    scene = stage.scene
    doors = [way.door for way in scene.ways]
    here = " ".join((scene.place, scene.description, *scene.things, *scene.carried, *doors)).lower()
    door = re.search(r"\b(?:[\w-]+ )?(?:door|gate|hatch|window|ladder|stairs)\b", text)
    if door and door.group() not in here:
        return False
    for line in lines("fixtures"):
        nouns, _, places = line.partition(" :: ")
        needed = [noun for noun in nouns.split() if re.search(rf"\b(?:the|a|his|her|their) (?:\w+ )?{noun}\b", text)]
        likely = set(places.split()) & set(scene.place.lower().split())
        if needed and not likely and not any(re.search(rf"\b{noun}", here) for noun in needed):
            return False
    return True


def _deed(stage: Stage) -> str:
    scene, dice = stage.scene, stage.dice
    ajar = [way.door for way in scene.ways if way.state == "open" and re.search(r"\b(?:door|hatch|gate|shutter)\b", way.door)]
    if ajar and scene.here and dice.due("shut it", 13):
        return f"close {ajar[0]}"
    kind = dice.share("idle")
    if dice.share("habit") < _HABITUAL and (custom := habit(stage)):
        return custom
    if scene.beyond and kind < 0.2:
        return dice.line("stage.look_beyond", person=dice.pick(scene.beyond, "beyond").name)
    if scene.carried and kind < 0.4:
        thing = dice.pick(scene.carried, "carried")
        hidden = any(stems_of(thing) & stems_of(topic) for topic in stage.mind.hidden_topics)
        return dice.line("stage.carried_secret" if hidden and scene.here else "stage.carried", thing=thing)
    if scene.things and kind < 0.55:
        return dice.line("stage.thing", thing=dice.pick(scene.things, "thing"))
    if not scene.here:
        return dice.line("stage.alone")
    if kind < 0.8:
        return dice.line("stage.watch", person=dice.pick(scene.here, "watched").name)
    return dice.line("stage.idle")


def thought(stage: Stage) -> str:
    """A thought about a person, a matter, the place or the hour."""
    scene, dice, mind = stage.scene, stage.dice, stage.mind
    kind = dice.share("thought")
    threats = [event for event in stage.situation.fresh if event.kind == "said" and event.to_me and event.act == "threat"]
    if threats and kind < 0.5:
        return dice.line("thoughts.threatened", person=threats[-1].who)
    heard = [event for event in stage.situation.talk_of_others if len(event.text.split()) > 5]
    if heard and kind < 0.35:
        return dice.line("thoughts.heard", person=heard[-1].who)
    if mind.hidden_topics and kind < 0.2:
        return dice.line("thoughts.secret_topic", topic=dice.pick(mind.hidden_topics, "topic"))
    goals = [goal for goal in scene.goals if goal.kind in ("find_out", "ask", "get", "other", "warn", "tell")]
    if goals and kind < 0.45:
        goal = goals[dice.turn(len(goals), "thought goal")]
        if goal.kind == "find_out" and goal.clause:
            return dice.line("thoughts.goal_clause", clause=confessed(goal.clause, scene.gender))
        if goal.kind in ("ask", "get", "find_out") and goal.topic:
            return dice.line("thoughts.goal_topic", topic=confessed(goal.topic, scene.gender))
        if goal.kind != "ask":
            return dice.line("thoughts.goal_deed", deed=confessed(goal.text, scene.gender))
    if scene.late and kind < 0.6:
        return dice.line("thoughts.night")
    if scene.here and kind < 0.75:
        person = dice.pick(scene.here, "thought person").name
        return dice.line("thoughts.fondness" if mind.friend(person) and kind < 0.68 else "thoughts.person", person=person)
    if not scene.here and kind < 0.85:
        return dice.line("thoughts.alone")
    if kind < 0.82:
        return dice.line("thoughts.place", place=scene.place, where=f"{scene.where} {scene.place}")
    return dice.line("thoughts.quiet")
