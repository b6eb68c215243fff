"""Answers to questions: from what one knows, around what one hides."""

import re

from engine.llm.storyteller.actor.dice import in_daylight, is_stock, phrases
from engine.llm.storyteller.actor.events import Event
from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.language.speechacts import stems_of
from engine.llm.storyteller.language.text import sentences

_WHERE = re.compile(r"\bwhere(?:'s| is| are| did| has| have)\b", re.IGNORECASE)
_WHY_SAID = re.compile(
    r"^why\W*$|\b(?:why (?:do|are|would|did|should) you (?:tell|ask|say|help|mention)(?:ing)?|what do you want in return|who told you)\b",
    re.IGNORECASE,
)
_HEALTH = re.compile(
    r"\bhow (?:are you|do you do|goes it|have you been|is it with you|do you feel)|\bare you (?:well|all right|okay|hurt)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:where am i|where are we|what (?:is|sort of|kind of) (?:this )?place|what is this(?: place| room)?\?)", re.IGNORECASE
)
_TIME = re.compile(r"\b(?:what time|what hour|how late is it|what day)\b", re.IGNORECASE)
_FAVOUR = re.compile(
    r"^(?:please,? )?(?:will|would|can|could|may|might|shall) (?:you|i|we)\b(?! (?:know|say|tell|help me to|seen|heard|been|ever))"
    r"|\bwill you\?",
    re.IGNORECASE,
)
_WHO = re.compile(r"\b(?:who is|what (?:do you (?:think|make|know) (?:of|about)|is)|(?:know|trust|about))\b", re.IGNORECASE)
_TRADE = re.compile(r"\b(?:what do you do|your (?:trade|work|business|calling|job)|what brings you|what are you\b)", re.IGNORECASE)


_EMBEDDED = re.compile(r"\b(?:who|whom|whose|what|where|when|why|how(?: many| much)?|whether|which)\b", re.IGNORECASE)
_OF_ONESELF = re.compile(r" (?:did |do |have |had |are |were |is )?(?:you|your)\b(?! (?:know|think|trust|suppose|say)\b)(?!\?)")
_TRUST = re.compile(r"\b(?:who(?:m)? (?:do|can|would|should|could) (?:you|I|one) (?:trust|rely on|believe))\b", re.IGNORECASE)
_ASKS_FOR = {
    "many": re.compile(r"\bhow (?:many|much)\b", re.IGNORECASE),
    "where": re.compile(r"\b(?:where|whereabouts|in which (?:place|room))\b", re.IGNORECASE),
    "when": re.compile(r"\b(?:when (?:did|was|were|will|is|do|does)|what time|since when|how long|at what hour)\b", re.IGNORECASE),
    "why": re.compile(r"\b(?:why|what for|how come|for what reason)\b", re.IGNORECASE),
    "who": re.compile(r"\b(?:who|whom|whose|which of (?:us|them|you))\b", re.IGNORECASE),
}


def answer(stage: Stage, event: Event) -> Plan:
    """The answer to a question."""
    plain = _plain_question(stage, event) or _small_talk(stage, event.text)
    if plain:
        return Plan(words=plain, to=event.who)
    if guilty(stage, event):
        return evade(stage, event)
    return Plan(words=_from_knowledge(stage, event), to=event.who)


def _from_knowledge(stage: Stage, event: Event) -> str:
    """The answer of one with nothing to hide."""
    dice, mind = stage.dice, stage.mind
    person = _asked_about(stage, event)
    if person:
        return _about_person(stage, person, where=bool(_WHERE.search(event.text)))
    if _TRADE.search(event.text) and (trade := mind.trade()):
        return dice.line("answering.answer", fact=trade)
    matter = stage.scene.matter(event.text)
    if matter and (fact := mind.about(matter, listener=event.who, focus=_turns_on(event.text, matter))):
        return dice.line("answering.answer", fact=fact)
    if _FAVOUR.search(event.text):
        return favour(stage, event)
    if not matter:
        return _answered_again(stage, event)
    if any(_OF_ONESELF.match(part) for part in _EMBEDDED.split(event.text)[1:]):
        return dice.line(f"answering.deflect_{mind.manner}")  # nobody else could know that
    others = stage.others(event.who)
    if others and dice.share("redirect") < 0.3:
        return dice.line("answering.redirect", person=dice.pick(others, "redirect to"))
    return dice.line(_not_known(event.text))


def _not_known(question: str) -> str:
    """The list of refusals that goes with what a question asks for: a name, a place, a number, a reason."""
    asked = [sentence for sentence in sentences(question) if sentence.endswith("?")] or [question]
    for kind, pattern in _ASKS_FOR.items():
        if pattern.search(asked[-1]):
            return f"answering.dont_know_{kind}"
    return "answering.dont_know"


def _plain_question(stage: Stage, event: Event) -> str:
    """Answers that anybody has: how one is, where this is, what time it is, why one said so. Empty for other questions."""
    dice, scene, text = stage.dice, stage.scene, event.text
    if _WHY_SAID.search(text):
        return dice.line("answering.because")
    if _TRUST.search(text):
        liked = [name for name in stage.others(event.who) if not stage.mind.foe(name)]
        if not liked:
            return dice.line("answering.trust_nobody")
        friends = [name for name in liked if stage.mind.friend(name)]
        return dice.line("answering.trust", person=friends[0] if friends else dice.pick(liked, "trusted"))
    if _HEALTH.search(text):
        return dice.line("names.greet_back")
    if _PLACE.search(text):
        first = next(iter(sentences(scene.description)), "")
        return f"You are {scene.where} {scene.place}. {first}".strip()
    if _TIME.search(text):
        return f"{scene.hour.removesuffix('.')}, as far as I can tell."
    return ""


def favour(stage: Stage, event: Event) -> str:
    """Yes or no to something asked of one."""
    kind = {"soft": 0.6, "sly": 0.4, "hard": 0.3}[stage.mind.manner]
    willing = stage.mind.friend(event.who) or (not stage.mind.foe(event.who) and stage.dice.share("favour") < kind)
    return stage.dice.line("answering.yes" if willing else "answering.no")


def _answered_again(stage: Stage, event: Event) -> str:
    """A question without a matter of its own, `And the rest of it?`, means what was asked before; or nothing in particular."""
    matter = stage.situation.asked_by(event.who)
    if matter is not None and (fact := _told_of(stage, matter, event.who)):
        return stage.dice.line("answering.answer", fact=fact)
    kind = _not_known(event.text)
    if matter is None and kind != "answering.dont_know" and not is_stock(event.text):
        return stage.dice.line(kind)
    if any(line in event.text for key in ("asking.press", "asking.press_hard") for line in phrases(key)):
        return stage.dice.line("answering.no_more")
    return stage.dice.line(f"answering.reply_{stage.mind.manner}")


def _told_of(stage: Stage, question: Event, listener: str) -> str:
    matter = stage.scene.matter(question.text)
    return stage.mind.about(matter, listener=listener, focus=_turns_on(question.text, matter))


def _turns_on(question: str, matter: frozenset[str]) -> str:
    """The last stem of what a question asks: `the cellar` of `how many casks were carried into the cellar`. An answer must have it."""
    if len(matter) < 2 or not _EMBEDDED.search(question):
        return ""
    asked = _EMBEDDED.split(question)[-1]
    return next((root for word in reversed(asked.split()) for root in stems_of(word) if root in matter), "")


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
        if text.startswith((asked.rstrip("?"), in_daylight(asked).rstrip("?"))) and said not in stage.situation.own_words:
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
        return dice.line("answering.dont_know_where")
    fact = stage.mind.about(stems_of(name))
    if fact:
        return dice.line("answering.answer", fact=fact)
    return dice.line("answering.about_person", person=name)
