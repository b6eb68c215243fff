"""Talk that nobody asked for: greetings, introductions, interruptions, gossip, remarks."""

import re

from engine.llm.storyteller.actor.dice import is_stock
from engine.llm.storyteller.actor.events import Event
from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.actor.replies import introduction
from engine.llm.storyteller.language.persons import confessed
from engine.llm.storyteller.language.text import capital, sentences

_WEIGHTY = re.compile(
    r"\b(?:swear|kill|hang|dead|drown|debt|owe|crown|pay|paid|secret|lie|lied|letter|key|night|blood|steal|stole|murder|afraid|never|promise"
    r"|dawn|money|hide|hidden|know|saw|seen|who)\w*\b",
    re.IGNORECASE,
)


def welcome(stage: Stage) -> Plan | None:
    """A word for somebody who has just come in, or for those one has come in to."""
    dice, situation = stage.dice, stage.situation
    greeted = any(event.kind == "said" and not event.mine and event.act == "greeting" for event in situation.news)
    for name in situation.arrivals:
        if situation.exchange(name) == 0 and not greeted and dice.share(f"greet {name}") < 0.5:
            if stage.others(name) and dice.share("remark on arrival") < 0.25:
                return Plan(words=dice.line("names.remark_arrival", person=name), to=dice.pick(stage.others(name), "aside"), how="quietly")
            return Plan(words=dice.line("names.greet"), to=name)
    if situation.just_arrived and (others := [name for name in stage.others() if situation.exchange(name) == 0]):
        name = dice.pick(others, "arrive")
        if dice.share("greet on arriving") < 0.5:
            return Plan(words=dice.line("names.arrive"), to=name)
    return None


def acquaint(stage: Stage) -> Plan | None:
    """Giving one's name to a stranger one has been talking to, or asking for theirs."""
    dice, situation, scene = stage.dice, stage.situation, stage.scene
    met = [name for name in stage.others() if situation.exchange(name) >= 1 or dice.share(f"meet {name}") < 0.2]
    unknown = {one.name for one in scene.awake_here if not one.known}  # whom one knows by name one need not be introduced to
    strangers = [name for name in met if name in unknown and not situation.knows_my_name(name) and not stage.mind.foe(name)]
    if strangers and scene.name and dice.due("introduce", 5):
        return introduction(stage, dice.pick(strangers, "stranger"))
    nameless = [one.name for one in scene.awake_here if one.name in met and not one.known]
    asked = any(event.mine and event.kind == "said" and event.act == "ask_name" for event in scene.events)
    if nameless and not asked and dice.due("ask a name", 6):
        return Plan(words=dice.line("names.ask_name"), to=dice.pick(nameless, "nameless"), tone="ask")
    return None


def interrupt(stage: Stage) -> Plan | None:
    """A word to others who are talking in one's hearing."""
    dice = stage.dice
    talk = [event for event in stage.situation.talk_of_others if stage.situation.exchange(event.who) < 3]
    if not talk:
        return None
    event = talk[-1]
    pressed = [name for name in event.whom if name != "you" and stage.situation.partner(name)]
    hard = event.act in ("threat", "accusation")
    if pressed and hard and dice.share("take sides") < 0.45:
        return Plan(words=dice.line("pressing.take_sides", person=pressed[0]), to=event.who)
    touched = bool(event.stems and any(goal.asks and goal.stems & event.stems for goal in stage.scene.goals))
    if event.act == "question" and touched and pressed and dice.share("second") < 0.3:
        return Plan(words=dice.line("pressing.take_sides", person=pressed[0]), to=event.who)
    if dice.share("interject") < (0.3 if touched else 0.08):
        return Plan(words=dice.line("pressing.interject"), to=event.who)
    return None


def confront(stage: Stage) -> Plan | None:
    """Asking somebody about words that were not meant for one's ears."""
    dice, situation = stage.dice, stage.situation
    if not dice.due("confront", 4):
        return None
    heard = [
        event
        for event in stage.scene.events
        if event.kind == "said" and not event.mine and not event.to_me and event.whom and _quotable(event) and situation.partner(event.who)
        if event.fresh or event.act == "threat"
    ]
    heard = [event for event in heard if not _repeated(stage, event)]
    heard = [event for event in heard if len(stage.scene.matter(quotable(event.text))) >= 2]
    weighty = [event for event in heard if event.act in ("threat", "accusation", "warning") or len(_WEIGHTY.findall(event.text)) >= 2]
    if not weighty:
        return None
    event = weighty[-1]
    words = dice.line("pressing.overheard", quote=quotable(event.text))
    return Plan(words=words, to=event.who, how="quietly" if stage.others(event.who) else "")


def remind(stage: Stage) -> Plan | None:
    """Bringing up what somebody here said to one some while ago."""
    dice = stage.dice
    if not dice.due("remind", 7):
        return None
    said = [
        event
        for event in stage.scene.events
        if event.kind == "said" and event.to_me and not event.fresh and _quotable(event) and stage.situation.partner(event.who)
    ]
    said = [event for event in said if not _repeated(stage, event)]
    if not said:
        return None
    event = dice.pick(said, "reminder")
    return Plan(words=dice.line("pressing.remind", quote=quotable(event.text)), to=event.who)


def gossip(stage: Stage) -> Plan | None:
    """Passing on to one what another said."""
    dice = stage.dice
    if not dice.due("gossip", 5):
        return None
    heard = [
        event
        for event in stage.scene.events
        if event.kind == "said" and not event.mine and _quotable(event) and event.act not in ("question", "request", "greeting")
    ]
    for event in reversed(heard):
        ears = [name for name in stage.others(event.who, *event.whom) if not stage.mind.foe(name)]
        safe = not stage.situation.partner(event.who) and not stage.mind.touches_secret(stage.scene.matter(event.text))
        if ears and safe and not _repeated(stage, event):
            to = next((name for name in ears if stage.mind.friend(name)), ears[0])
            return Plan(words=dice.line("pressing.gossip", person=event.who, quote=quotable(event.text)), to=to, how="quietly")
    return None


def chat(stage: Stage) -> Plan | None:
    """A remark or a small question to somebody, so that it is not silent for ever."""
    dice, situation = stage.dice, stage.situation
    quiet = [name for name in stage.others() if situation.exchange(name) < 3]
    if not quiet:
        return None
    to = quiet[dice.turn(len(quiet), "chat with", slow=2)]
    kind = dice.share("chat")
    if situation.departures and kind < 0.3:
        return Plan(words=dice.line("names.remark_departure"), to=to)
    if stage.mind.friend(to) and kind < 0.35:
        return Plan(words=dice.line("pressing.kindness"), to=to)
    if stage.scene.voice and dice.due("own words", 11):
        line = stage.scene.voice[dice.turn(len(stage.scene.voice), "voice", slow=11)]
        if not (stage.scene.name and stage.scene.name.split()[0] in line):
            return Plan(words=line, to=to)
    if kind < 0.55:
        return Plan(words=dice.line("asking.ask_small"), to=to, tone="ask")
    topics = [goal.topic for goal in stage.scene.goals if goal.topic and goal.kind in ("find_out", "ask")]
    if topics and kind < 0.65:
        return Plan(words=dice.line("chatting.remark_goal", topic=confessed(dice.pick(topics, "remark topic"), stage.scene.gender)), to=to)
    if stage.scene.things and kind < 0.75:
        return Plan(words=dice.line("chatting.thing", thing=dice.pick(stage.scene.things, "thing to remark on")), to=to)
    return Plan(words=dice.line("chatting.remark"), to=to)


def call_out(stage: Stage) -> Plan | None:
    """A shout to somebody in sight beyond, from one who is alone."""
    dice = stage.dice
    if stage.scene.here or not stage.scene.beyond or not dice.due("call", 8):
        return None
    wanted = [one for one in stage.scene.beyond if any(goal.who == one.name for goal in stage.scene.goals)]
    if not wanted:
        return None
    return Plan(words=dice.line("chatting.yell"), to=wanted[0].name, tone="shout")


def quotable(words: str) -> str:
    """The first sentence or two of a speech, short enough to repeat."""
    kept = ""
    for sentence in sentences(words.replace('"', "'")):
        if kept and len(f"{kept} {sentence}".split()) > 14:
            break
        kept = f"{kept} {sentence}".strip()
    return capital(kept if kept[-1:] in ".!?…" else f"{kept}.")


def _quotable(event: Event) -> bool:
    """Whether a speech is worth repeating and can be: one that quotes a third is not."""
    nested = re.search(r"(?:^|\s)'\w", event.text)
    return nested is None and not is_stock(event.text) and 4 <= len(quotable(event.text).split()) <= 20


def _repeated(stage: Stage, event: Event) -> bool:
    """Whether the character has brought it up already."""
    quote = quotable(event.text)
    return any(quote in other.text for other in stage.scene.events if other.mine and other.kind == "said")
