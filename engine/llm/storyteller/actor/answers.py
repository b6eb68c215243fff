"""Answers to questions: from what one knows, around what one hides."""

import re

from engine.llm.storyteller.actor.dice import in_daylight, phrases
from engine.llm.storyteller.actor.events import Event
from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.language.speechacts import stems_of

_WHERE = re.compile(r"\bwhere(?:'s| is| are| did| has| have)\b", re.IGNORECASE)
_WHY_SAID = re.compile(
    r"\b(?:why (?:do|are|would|did|should) you (?:tell|ask|say|help|mention)(?:ing)?|what do you want in return|who told you)\b",
    re.IGNORECASE,
)
_WHO = re.compile(r"\b(?:who is|what (?:do you (?:think|make|know) (?:of|about)|is)|(?:know|trust|about))\b", re.IGNORECASE)
_TRADE = re.compile(r"\b(?:what do you do|your (?:trade|work|business|calling|job)|what brings you|what are you\b)", re.IGNORECASE)


def answer(stage: Stage, event: Event) -> Plan:
    """The answer to a question."""
    dice, mind = stage.dice, stage.mind
    small = _small_talk(stage, event.text)
    if small:
        return Plan(words=small, to=event.who)
    if _WHY_SAID.search(event.text):
        return Plan(words=dice.line("answering.because"), to=event.who)
    if not stage.scene.matter(event.text):
        return _answered_again(stage, event)
    if guilty(stage, event):
        return evade(stage, event)
    person = _asked_about(stage, event)
    if person:
        return Plan(words=_about_person(stage, person, where=bool(_WHERE.search(event.text))), to=event.who)
    if _TRADE.search(event.text) and (trade := mind.trade()):
        return Plan(words=dice.line("answering.answer", fact=trade), to=event.who)
    fact = mind.about(event.stems, listener=event.who)
    if fact:
        return Plan(words=dice.line("answering.answer", fact=fact), to=event.who)
    others = stage.others(event.who)
    if others and dice.share("redirect") < 0.3:
        return Plan(words=dice.line("answering.redirect", person=dice.pick(others, "redirect to")), to=event.who)
    return Plan(words=dice.line("answering.dont_know"), to=event.who)


def _answered_again(stage: Stage, event: Event) -> Plan:
    """A question without a matter of its own, `And the rest of it?`, means what was asked before; or nothing in particular."""
    matter = stage.situation.asked_by(event.who)
    if matter is None:
        return Plan(words=stage.dice.line(f"answering.reply_{stage.mind.manner}"), to=event.who)
    if stage.mind.touches_secret(stage.scene.matter(matter.text)):
        return evade(stage, event)
    fact = stage.mind.about(matter.stems, listener=event.who)
    return Plan(words=stage.dice.line("answering.answer", fact=fact) if fact else stage.dice.line("answering.dont_know"), to=event.who)


def guilty(stage: Stage, event: Event) -> bool:
    """Whether a question or charge comes near what the character hides."""
    matter = stage.scene.matter(event.text)
    if not matter and (earlier := stage.situation.asked_by(event.who)):
        matter = stage.scene.matter(earlier.text)
    return stage.mind.touches_secret(matter)


def evade(stage: Stage, event: Event) -> Plan:
    """Around the question: turned aside at first, denied next, then with anger; under long pressure it may come out."""
    dice, mind = stage.dice, stage.mind
    charges = ("question", "accusation", "threat")
    pressure = sum(one.kind == "said" and one.to_me and one.act in charges for one in stage.situation.fresh)
    thought = ""
    if dice.share("dread") < 0.55:
        topics = mind.hidden_topics
        named = topics and dice.share("dread topic") < 0.5
        thought = dice.line("thoughts.secret_topic", topic=dice.pick(topics, "topic")) if named else dice.line("thoughts.dread")
    before = [dice.line("stage.nervous")] if dice.share("nervous") < 0.35 else []
    if pressure >= 3 and mind.confession and dice.share("crack") < 0.12 and not mind.foe(event.who):
        return Plan(words=dice.line("answering.crack", fact=mind.confession), to=event.who, tone="whisper")
    if pressure >= 4 and mind.manner != "soft" and dice.share("anger") < 0.6:
        return Plan(before, dice.line("answering.anger"), event.who, thought=thought)
    if pressure >= 2 and dice.share("lie") < 0.5:
        return Plan(before, dice.line("answering.lie"), event.who, thought=thought)
    return Plan(before, dice.line(f"answering.deflect_{mind.manner}"), event.who, thought=thought)


def _small_talk(stage: Stage, text: str) -> str:
    """The answer that goes with a question of small talk; empty for other questions."""
    for asked, said in zip(phrases("asking.ask_small"), phrases("answering.smalltalk_answer"), strict=True):
        if text.startswith((asked, in_daylight(asked))) and said not in stage.situation.own_words:
            return said
    return ""


def _asked_about(stage: Stage, event: Event) -> str:
    """The person a question is about, when it is about one; empty otherwise."""
    if not (_WHERE.search(event.text) or _WHO.search(event.text)):
        return ""
    lower = event.text.casefold()
    for name in stage.scene.people:
        rest = event.stems - stems_of(name)
        if name.casefold() in lower and name != event.who and len(rest) <= 1:
            return name
    return ""


def _about_person(stage: Stage, name: str, *, where: bool) -> str:
    dice = stage.dice
    if where:
        if stage.scene.person(name):
            return dice.line("answering.whereabouts_here", person=name)
        place = stage.situation.last_seen(name)
        if place:
            return dice.line("answering.whereabouts_seen", person=name, place=place)
        return dice.line("answering.dont_know")
    fact = stage.mind.about(stems_of(name))
    if fact:
        return dice.line("answering.answer", fact=fact)
    return dice.line("answering.about_person", person=name)
