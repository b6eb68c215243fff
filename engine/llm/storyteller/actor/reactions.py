"""What a character cannot let pass: a cry, a confession, its name, its secret or its goal in the mouth of others, a thing handled."""

import re

from engine.llm.storyteller.actor.dice import is_stock
from engine.llm.storyteller.actor.events import Event
from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.actor.topics import confesses, topic_of
from engine.llm.storyteller.language.speechacts import stems_of

_FIRE = re.compile(r"\b(?:fire|burning|smoke|flames)\b", re.IGNORECASE)
_ALARM = re.compile(r"\b(?:fire|help|murder|thief|thieves|treason|look out|watch out)\b", re.IGNORECASE)
_DID = (
    r"(?:put out|puts out|killed|stole|lied|betrayed|poisoned|burned|drowned|murdered|wrecked|doused|did it"
    r"|is (?:a|the) (?:liar|thief|murderer|killer|traitor)|is lying|is hiding|is to blame)"
)
_SOMEBODY_DID = re.compile(
    rf"\b(?!(?:I|It|He|She|They|You|We|Who|Somebody|Nobody|Someone|That|This|The|If)\b)([A-Z]\w+(?: [A-Z]\w+)?) (?:\w+ )?{_DID}\b"
)
"""A name that the hearer has not heard yet."""
_HANDLED = re.compile(
    r"^(?:took|hid|handed|gave|opened|unlocked|held out|dropped|put|pocketed|showed|stole|tried to (?:take|open|unlock)|set)\b"
)
_URGENT = ("threat", "question", "ask_name", "accusation", "request", "introduction")


def alarmed(stage: Stage) -> Plan | None:
    """The answer to a cry such as `Fire!` of somebody here. Cries from elsewhere make one go there."""
    for event in reversed(stage.situation.news):
        cried = event.kind == "said" and (event.how == "shouted" or event.text.endswith("!")) and len(event.text.split()) <= 6
        if cried and stage.situation.partner(event.who) is not None and _ALARM.search(event.text):
            key = "reacting.alarm_fire" if _FIRE.search(event.text) else "reacting.alarm_help"
            return Plan(before=[stage.dice.line("reacting.start")], words=stage.dice.line(key), to=event.who)
    return None


def react(stage: Stage) -> Plan | None:
    """The reaction to what has just happened near the character, the latest first; None when nothing touched it."""
    pending = stage.situation.pending
    if pending is not None and pending.act in _URGENT:
        return None
    for event in reversed(stage.situation.news):
        plan = _to_deed(stage, event) if event.kind == "done" else _to_words(stage, event) if _overheard(stage, event) else None
        if plan is not None:
            return plan
    return None


def _overheard(stage: Stage, event: Event) -> bool:
    situation = stage.situation
    return event.kind == "said" and not event.to_me and situation.partner(event.who) is not None and situation.exchange(event.who) < 4


def _to_words(stage: Stage, event: Event) -> Plan | None:
    dice, mind, scene = stage.dice, stage.mind, stage.scene
    if confesses(event.text) and _concerns(stage, event):
        thought = dice.line("thoughts.heard", person=event.who)
        words = dice.line("reacting.confession")
        return Plan([dice.line("stage.recoil")], words, event.who, thought=thought)
    accused = _accused(stage, event)
    if accused == "me":
        return Plan(words=dice.line("reacting.named"), to=event.who)
    if accused:
        key = "reacting.defend" if mind.friend(accused) else "reacting.accused_aloud"
        return Plan(words=dice.line(key, person=accused), to=event.who)
    victims = [name for name in event.whom if mind.friend(name)]
    if event.act == "threat" and victims:
        return Plan([f"step between {victims[0]} and {event.who}"], dice.line("reacting.defend", person=victims[0]), event.who)
    first = scene.name.split()[0] if scene.name else ""
    if first and re.search(rf"\b{re.escape(first)}\b", event.text) and event.act not in ("introduction", "ask_name", "greeting"):
        return Plan(words=dice.line("reacting.named"), to=event.who) if dice.share("named") < 0.6 else None
    if is_stock(event.text):
        return None
    matter = scene.matter(event.text)
    if mind.touches_secret(matter) and not stage.situation.shushed and dice.share("secret near") < 0.6:
        topics = [topic for topic in mind.hidden_topics if stems_of(topic) & matter]
        thought = dice.line("thoughts.secret_topic", topic=topics[0]) if topics else dice.line("thoughts.dread")
        before = [dice.line("stage.nervous")] if dice.share("nervous") < 0.4 else []
        return Plan(before, dice.line("reacting.secret_near"), event.who, thought=thought)
    return _touched(stage, event, matter)


def _touched(stage: Stage, event: Event, matter: frozenset[str]) -> Plan | None:
    """A word to those who speak of what the character wants to know or have."""
    dice = stage.dice
    for goal in stage.scene.goals:
        if goal.kind not in ("find_out", "ask", "get") or not goal.stems or len(goal.stems & matter) * 2 < len(goal.stems):
            continue
        if stage.situation.asked_of(goal.stems, event.who) or dice.share("touched") > 0.6:
            return None
        if event.act == "question":
            return Plan(words=dice.line("reacting.same_question"), to=event.who) if dice.share("as well") < 0.4 else None
        topic = topic_of(event.text, stage.scene.people) or goal.topic
        return Plan(words=dice.line("reacting.goal_heard", topic=topic), to=event.who, tone="ask") if topic else None
    return None


def _to_deed(stage: Stage, event: Event) -> Plan | None:
    """A word to somebody who handles a thing that the character cares about."""
    if not _HANDLED.match(event.text) or not stage.situation.partner(event.who) or " to you" in event.text:
        return None
    done = stems_of(event.text)
    wanted = [goal.topic for goal in stage.scene.goals if goal.kind in ("get", "keep", "find_out") and goal.topic]
    topic = next((topic for topic in wanted if (stems := stems_of(topic)) and stems <= done), "")
    things = [one for one in (*stage.scene.things, *stage.scene.carried) if stems_of(one) and stems_of(one) <= done]
    thing = next((one for one in things if topic and stems_of(one) & stems_of(topic)), topic)
    if not topic or (event.failed and event.who == "you"):
        return None
    return Plan(words=stage.dice.line("reacting.thing_seen", thing=thing), to=event.who)


def _concerns(stage: Stage, event: Event) -> bool:
    """Whether a confession has to do with anything the character wants, hides or fears: an open one mostly has."""
    matter = stage.scene.matter(event.text)
    goals = any(goal.stems & matter for goal in stage.scene.goals)
    return goals or stage.mind.touches_secret(matter) or event.how == "shouted" or not event.whom or stage.dice.share("scandal") < 0.5


def _accused(stage: Stage, event: Event) -> str:
    """Who is charged with something in a speech to others: a name, `me`, or nobody."""
    if event.act == "question":
        return ""
    own = [name for name in (stage.scene.name, *stage.scene.name.split()) if len(name) > 2]
    for name in [*own, *stage.scene.people]:
        for form in (name, name.split()[0] if name[:1].isupper() else name):
            if name != event.who and re.search(rf"\b{re.escape(form)}\b (?:\w+ )?{_DID}\b", event.text, re.IGNORECASE):
                return "me" if name in own else name
    named = _SOMEBODY_DID.search(event.text)
    return named[1] if named else ""
