"""Answering what was said to one: the obligations of talk."""

import re

from engine.llm.storyteller.actor.answers import answer, evade, favour, guilty
from engine.llm.storyteller.actor.dice import is_stock, phrases
from engine.llm.storyteller.actor.events import Event
from engine.llm.storyteller.actor.handing import requested
from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.actor.topics import confesses, topic_of
from engine.llm.storyteller.handoff.bank import known

_UNDER_ANOTHER_NAME = re.compile(r"\b(?:false name|real name|alias|impostor|disguise|in hiding|not who|hides? (?:his|her|their) name)\b")
_LONG = 5
"""Turns after which talk with one person runs dry."""


def reply(stage: Stage) -> Plan | None:
    """What the character answers to what was last said to it; None when it lets it pass."""
    event = stage.situation.pending
    if event is None:
        return None
    turns = stage.situation.exchange(event.who)
    if confesses(event.text):
        return _confided(stage, event)
    if (shown := stage.situation.shown_by(event.who)) and event.act not in ("threat", "accusation", "ask_name"):
        return Plan(before=[f"look at {shown} for a moment"], words=stage.dice.line("answering.shown", thing=shown), to=event.who)
    match event.act:
        case "ask_name":
            return _name(stage, event)
        case "threat":
            return _threatened(stage, event)
        case "accusation":
            return _accused(stage, event)
        case "request":
            return requested(stage, event)
        case "question":
            return _answered(stage, event, turns)
        case "introduction":
            return _introduced(stage, event)
        case "order":
            return Plan(words=favour(stage, event), to=event.who)
        case "apology" if turns < _LONG:
            return Plan(words=stage.dice.line("answering.forgive"), to=event.who)
        case "greeting" if turns == 0:
            return Plan(words=stage.dice.line("names.greet_back"), to=event.who)
        case "warning":
            return _warned(stage, event, turns)
        case "farewell":
            return Plan(words=stage.dice.line("names.farewell_back"), to=event.who) if turns < _LONG else None
        case _:
            return _heard(stage, event, turns)


def _confided(stage: Stage, event: Event) -> Plan:
    """Somebody has owned up to something."""
    dice = stage.dice
    thought = dice.line("thoughts.heard", person=event.who) if dice.share("confided") < 0.5 else ""
    return Plan(before=[dice.line("stage.recoil")], words=dice.line("answering.confessed_to"), to=event.who, thought=thought)


def _name(stage: Stage, event: Event) -> Plan:
    scene, dice = stage.scene, stage.dice
    hides = _UNDER_ANOTHER_NAME.search(_written(stage))
    if not scene.name or (stage.mind.foe(event.who) and dice.lasting("refuse name") < 0.5):
        return Plan(words=dice.line("names.name_refused"), to=event.who)
    if hides:
        false = dice.lasting("false name")
        names = phrases("false_names.names")
        name = names[int(false * len(names))]
        return Plan(words=dice.line("names.name_false", me=name, first=name.split()[0]), to=event.who)
    return introduction(stage, event.who)


def introduction(stage: Stage, to: str, *, back: bool = False) -> Plan:
    """Giving one's name, now and then in words of one's own."""
    giving = re.compile(rf"\b(?:name is|I'm|I am|call me) {re.escape(stage.scene.name.split()[0])}\b")
    own = [line for line in stage.scene.voice if giving.search(line)]
    if own and stage.dice.due("own introduction", 12):
        return Plan(words=own[0], to=to)
    return Plan(words=stage.dice.line("names.intro_back" if back else "names.intro", me=stage.scene.name), to=to)


def _written(stage: Stage) -> str:
    return " ".join((*stage.scene.traits.values(), *stage.scene.goal_lines)).lower()


def _threatened(stage: Stage, event: Event) -> Plan:
    dice, manner = stage.dice, stage.mind.manner
    key = {"hard": "pressing.defiance", "soft": "pressing.fear", "sly": "pressing.bargain"}[manner]
    thought = dice.line("thoughts.threatened", person=event.who) if dice.share("threat thought") < 0.6 else ""
    if stage.others(event.who) and dice.share("call for help") < 0.2:
        return Plan(words=dice.line("pressing.call_for_help"), tone="shout", thought=thought)
    before = [dice.line("stage.recoil")] if dice.share("recoil") < 0.5 else []
    return Plan(before=before, words=dice.line(key), to=event.who, thought=thought)


def _accused(stage: Stage, event: Event) -> Plan | None:
    if guilty(stage, event):
        return evade(stage, event)
    if stage.situation.exchange(event.who) >= _LONG:
        return None
    return Plan(words=stage.dice.line("pressing.accused"), to=event.who)


def _answered(stage: Stage, event: Event, turns: int) -> Plan | None:
    if turns >= _LONG + 2 and stage.dice.share("weary") < 0.6:
        return None
    question = stage.situation.asked(event.who)
    if question is not None and stage.situation.evasive(event, question) and turns < 3 and stage.dice.share("insist") < 0.4:
        return pressed(stage, event, question)
    return answer(stage, event)


def _introduced(stage: Stage, event: Event) -> Plan:
    dice = stage.dice
    cool = stage.mind.foe(event.who) and dice.share("cool") < 0.6
    if stage.scene.name and not stage.situation.knows_my_name(event.who) and not cool:
        return introduction(stage, event.who, back=True)
    return Plan(words=dice.line("names.greet_back"), to=event.who)


def _warned(stage: Stage, event: Event, turns: int) -> Plan | None:
    if turns >= _LONG:
        return None
    thought = stage.dice.line("thoughts.fondness", person=event.who) if stage.dice.share("warned thought") < 0.4 else ""
    return Plan(words=stage.dice.line("pressing.warned"), to=event.who, thought=thought)


def _heard(stage: Stage, event: Event, turns: int) -> Plan | None:
    """To a plain remark one replies, or does not; an answer to one's own question is weighed."""
    question = stage.situation.asked(event.who)
    if question is not None:
        return _weighed(stage, event, question)
    dice = stage.dice
    touched = [goal for goal in stage.scene.goals if goal.asks and goal.stems & event.stems]
    own = 0.6 if known(event.text) is None else 0.0  # not one of the phrases that need no answer
    if dice.share("reply") > (0.55, 0.35, 0.2, 0.1, 0.0)[min(turns, 4)] + (0.3 if touched else 0.0) + own:
        return None
    if event.act == "thanks":
        return Plan(before=[f"nod to {event.who}"]) if dice.due("nod", 11) else None
    if touched and turns < 3 and not stage.situation.asked_about(touched[0].stems, event.who):
        topic = topic_of(event.text, stage.scene.people)
        if topic:
            return Plan(words=dice.line("asking.follow_up", topic=topic), to=event.who, tone="ask")
    return Plan(words=dice.line(f"answering.reply_{stage.mind.manner}"), to=event.who)


def _weighed(stage: Stage, event: Event, question: Event) -> Plan | None:
    """The answer to a question of one's own: press, follow up, believe it or let it be."""
    dice, questions = stage.dice, stage.situation.questions_to(event.who)
    sent = next((name for name in stage.others(event.who) if name in event.text or name.removeprefix("the ") in event.text), "")
    if sent and is_stock(event.text) and not stage.situation.asked_of(stage.scene.matter(question.text), sent):
        return Plan(words=dice.line("reacting.redirected", person=sent), to=event.who)
    if not any(goal.stems & question.stems for goal in stage.scene.goals):
        civil = not stage.situation.evasive(event, question) and dice.share("civil") < 0.25
        return Plan(words=dice.line("answering.accept"), to=event.who) if civil else None
    if stage.situation.evasive(event, question):
        if questions <= 2 and dice.share("press") < 0.75:
            return pressed(stage, event, question)
        thought = dice.line("thoughts.suspicion", person=event.who) if dice.share("suspect") < 0.7 else ""
        if dice.share("doubt") < 0.5:
            return Plan(words=dice.line("answering.doubt"), to=event.who, thought=thought)
        return Plan(before=[dice.line("stage.watch", person=event.who)], thought=thought) if thought else None
    topic = topic_of(event.text, stage.scene.people, not_in=question.text)
    if topic and questions <= 2 and dice.share("follow up") < 0.55:
        return Plan(words=dice.line("asking.follow_up", topic=topic), to=event.who, tone="ask")
    if dice.share("accept") < 0.6:
        return Plan(words=dice.line("answering.accept"), to=event.who)
    return None


def pressed(stage: Stage, event: Event, question: Event) -> Plan:
    """Asking again, harder each time; those who mean to threaten do."""
    dice, questions = stage.dice, stage.situation.questions_to(event.who)
    menaces = any(goal.kind == "threaten" and goal.who == event.who for goal in stage.scene.goals)
    if questions >= 2 and menaces and dice.share("menace") < 0.5:
        return Plan(words=dice.line("pressing.threaten"), to=event.who, how="quietly")
    hard = questions >= 2 and stage.mind.manner != "soft"
    return Plan(words=dice.line("asking.press_hard" if hard else "asking.press"), to=event.who)
