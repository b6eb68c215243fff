"""Goals put into words and deeds, when those they concern are here."""

from collections.abc import Callable

from engine.llm.storyteller.actor.goals import Goal, GoalKind
from engine.llm.storyteller.actor.handing import offer_thing, seek_thing
from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.language.persons import confessed
from engine.llm.storyteller.language.speechacts import stems_of

_WEIGHTY: tuple[GoalKind, ...] = ("threaten", "tell", "warn", "give", "get")
"""Come before others, because they come up less often: each only once in a few rounds."""
_WINDOW = 3
"""Rounds that one goal stays foremost."""


def goals_in_turn(stage: Stage) -> list[Goal]:
    """The character's goals, the foremost of these rounds first."""
    goals = stage.scene.goals
    if not goals:
        return []
    start = stage.dice.turn(len(goals), "goal", slow=_WINDOW)
    return [*goals[start:], *goals[:start]]


def pursue(stage: Stage) -> Plan | None:
    """The first goal that something can be done about here and now; None when there is none."""
    goals = goals_in_turn(stage)
    weighty = [goal for goal in goals if goal.kind in _WEIGHTY]
    for goal in [*weighty, *(goal for goal in goals if goal.kind not in _WEIGHTY)]:
        attempt = _ATTEMPTS.get(goal.kind)
        plan = attempt(stage, goal) if attempt else None
        if plan is not None:
            return plan
    return None


def _ready(stage: Stage, name: str) -> bool:
    """Whether somebody is here to be spoken to and has not been talked to death."""
    return bool(name) and stage.situation.partner(name) is not None and stage.situation.exchange(name) < 4


def _ask(stage: Stage, goal: Goal) -> Plan | None:
    asked = stage.situation.asked_about(goal.stems, goal.who) or stage.situation.asked_of(goal.stems, goal.who) > 1
    if asked or not _ready(stage, goal.who):
        return None
    return Plan(words=_question(stage, goal), to=goal.who, tone="ask", how=_low(stage, goal.who))


def _question(stage: Stage, goal: Goal) -> str:
    if goal.clause:
        return stage.dice.line("asking.ask_clause", clause=goal.question)
    if goal.topic:
        return stage.dice.line("asking.ask_topic", topic=goal.topic)
    return stage.dice.line("asking.ask_small")


def _find_out(stage: Stage, goal: Goal) -> Plan | None:
    about = [name for name in stage.scene.people if name.casefold() in goal.text.casefold()]
    open_to = [name for name in stage.others(*about) if _ready(stage, name) and not stage.situation.asked_of(goal.stems, name)]
    sent = [name for name in open_to if name in stage.situation.sent_to]
    if not open_to or (not sent and stage.situation.asked_about(goal.stems) and stage.dice.share("ask again") < 0.6):
        return None
    open_to = sent or open_to
    whom = open_to[stage.dice.turn(len(open_to), "whom", slow=2)]
    if goal.clause:
        clause = confessed(goal.clause, stage.scene.gender)
        return Plan(words=stage.dice.line("asking.ask_anyone", clause=clause), to=whom, tone="ask")
    topic = confessed(goal.topic, stage.scene.gender)
    return Plan(words=stage.dice.line("asking.ask_topic", topic=topic), to=whom, tone="ask")


def _warn(stage: Stage, goal: Goal) -> Plan | None:
    words_about = stems_of(goal.topic or goal.deed or goal.clause)
    if not _ready(stage, goal.who) or stage.situation.asked_about(words_about, goal.who) or not stage.dice.due(f"warn {goal.who}", 3):
        return None
    if goal.topic:
        words = stage.dice.line("pressing.warn_topic", topic=goal.topic)
    elif goal.deed:
        words = stage.dice.line("pressing.warn_deed", deed=goal.deed)
    else:
        words = stage.dice.line("pressing.warn_plain")
    return Plan(words=words, to=goal.who, tone="whisper" if stage.others(goal.who) else "say")


def _threaten(stage: Stage, goal: Goal) -> Plan | None:
    if not _ready(stage, goal.who) or not stage.dice.due(f"threaten {goal.who}", 5):
        return None
    plain = stage.dice.line("pressing.threaten")
    words = stage.dice.line("pressing.threaten_clause", clause=goal.question) if goal.clause else plain
    return Plan(words=words, to=goal.who, how="quietly")


def _tell(stage: Stage, goal: Goal) -> Plan | None:
    if not _ready(stage, goal.who) or stage.situation.asked_about(goal.stems, goal.who) or not stage.dice.due(f"tell {goal.who}", 3):
        return None
    fact = stage.mind.about(goal.stems, listener=goal.who, guarded=True)
    if not fact:
        return None
    return Plan(words=stage.dice.line("pressing.tell", fact=fact), to=goal.who, how=_low(stage, goal.who))


def _go(stage: Stage, goal: Goal) -> Plan | None:
    """Somebody who was to be met is here."""
    if not goal.who or not _ready(stage, goal.who) or goal.place.casefold() != stage.scene.place.casefold():
        return None
    return Plan(words=stage.dice.line("asking.ask_small"), to=goal.who, tone="ask") if stage.dice.due("meet", 3) else None


def _listen(stage: Stage, goal: Goal) -> Plan | None:
    door = next((way.door for way in stage.scene.ways if stems_of(way.door) & goal.stems and way.state != "open"), None)
    return Plan(before=[stage.dice.line("stage.listen", door=door)]) if door and stage.dice.due("listen", 3) else None


def _avoid(stage: Stage, goal: Goal) -> Plan | None:
    if stage.scene.person(goal.who) is None or not stage.dice.due("avoid", 4):
        return None
    return Plan(before=[stage.dice.line("stage.nervous")], thought=stage.dice.line("thoughts.person", person=goal.who))


def _watch(stage: Stage, goal: Goal) -> Plan | None:
    if stage.scene.person(goal.who) is None or not stage.dice.due("watch", 3):
        return None
    return Plan(before=[stage.dice.line("stage.watch", person=goal.who)])


def _befriend(stage: Stage, goal: Goal) -> Plan | None:
    if not _ready(stage, goal.who) or not stage.dice.due("befriend", 3):
        return None
    key = "pressing.kindness" if stage.dice.share("kindness") < 0.7 else "pressing.promise"
    return Plan(words=stage.dice.line(key), to=goal.who)


def _persuade(stage: Stage, goal: Goal) -> Plan | None:
    if not _ready(stage, goal.who) or stage.situation.asked_about(goal.stems, goal.who) or not stage.dice.due("persuade", 3):
        return None
    return Plan(words=stage.dice.line("asking.persuade", deed=confessed(goal.deed, stage.scene.gender)), to=goal.who, tone="ask")


def _speak_of(stage: Stage, goal: Goal) -> Plan | None:
    """A goal that is neither a question nor a deed here is spoken of, to the one it concerns or to a friend."""
    others = [goal.who] if goal.who in stage.others() else [name for name in stage.others() if not stage.mind.foe(name)]
    if not others or not stage.dice.due("aim", 4) or stage.situation.asked_about(goal.stems):
        return None
    to = others[stage.dice.turn(len(others), "confidant", slow=4)]
    return Plan(words=stage.dice.line("chatting.aim", deed=confessed(goal.text, stage.scene.gender)), to=to)


def _low(stage: Stage, name: str) -> str:
    """Quietly, now and then, when others could hear."""
    return "quietly" if stage.others(name) and stage.dice.share("low voice") < 0.3 else ""


_ATTEMPTS: dict[GoalKind, Callable[[Stage, Goal], Plan | None]] = {
    "ask": _ask, "find_out": _find_out, "warn": _warn, "threaten": _threaten, "tell": _tell, "get": seek_thing, "give": offer_thing,
    "go": _go, "listen": _listen, "avoid": _avoid, "watch": _watch, "befriend": _befriend, "persuade": _persuade, "other": _speak_of,
}  # fmt: skip
