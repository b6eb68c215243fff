"""Things asked for, shown, given and taken."""

from engine.llm.storyteller.actor.events import Event
from engine.llm.storyteller.actor.goals import Goal
from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.language.speechacts import stems_of
from engine.llm.storyteller.language.text import bare


def requested(stage: Stage, event: Event) -> Plan:
    """The answer to `give me the key`."""
    dice, mind = stage.dice, stage.mind
    thing = wanted_thing(event, stage.scene.carried)
    if thing is None:
        return Plan(words=dice.line("answering.not_mine_to_give"), to=event.who)
    kept = any(bare(thing).casefold() in topic.casefold() or stems_of(thing) & stems_of(topic) for topic in mind.hidden_topics)
    promised = any(goal.kind == "give" and goal.who == event.who and stems_of(goal.topic) & stems_of(thing) for goal in stage.scene.goals)
    willing = promised or (not kept and not mind.foe(event.who) and dice.share("yield") < (0.4 if mind.manner == "soft" else 0.15))
    if willing:
        return Plan(before=[f"hand {thing} to {event.who}"], words=dice.line("answering.hand_over"), to=event.who)
    thought = dice.line("thoughts.suspicion", person=event.who) if dice.share("request thought") < 0.4 else ""
    return Plan(words=dice.line("answering.refuse_thing", thing=thing), to=event.who, thought=thought)


def wanted_thing(event: Event, carried: tuple[str, ...]) -> str | None:
    """Which of the things carried a speech asks for."""
    lower = event.text.casefold()
    named = [thing for thing in carried if bare(thing).casefold() in lower]
    if named:
        return named[0]
    nouns = [thing for thing in carried if bare(thing).split()[-1].casefold() in lower.split()]
    return nouns[0] if len(nouns) == 1 else None


def seek_thing(stage: Stage, goal: Goal) -> Plan | None:
    """Pursuing `get the key from the innkeeper`: take it where it lies, else ask for it."""
    dice, scene = stage.dice, stage.scene
    stems = stems_of(goal.topic)
    if any(stems <= stems_of(thing) for thing in scene.carried):
        return None
    lying = next((thing for thing in scene.things if stems and stems <= stems_of(thing)), None)
    if lying is not None and dice.due(f"take {lying}", 3):
        return Plan(before=[f"take {lying}"])
    if not goal.who or not stage.situation.partner(goal.who) or stage.situation.asked_about(stems, goal.who):
        return None
    if not dice.due(f"ask for {goal.topic}", 3):
        return None
    return Plan(words=dice.line("asking.request", thing=goal.topic), to=goal.who, how=_quietly(stage, goal.who))


def offer_thing(stage: Stage, goal: Goal) -> Plan | None:
    """Pursuing `show the coin to the innkeeper` and `give the letter to the clerk`."""
    dice, scene = stage.dice, stage.scene
    stems = stems_of(goal.topic)
    thing = next((one for one in scene.carried if stems and (stems <= stems_of(one) or stems_of(one) <= stems)), None)
    if thing is None or not stage.situation.partner(goal.who):
        return None
    if goal.text.lower().startswith("show"):
        shown = any(event.mine and event.text.startswith(f"held out {thing}") for event in scene.events)
        if shown or stage.situation.asked_about(stems_of(thing) or stems, goal.who) or not dice.due(f"show {thing}", 12):
            return None
        return Plan(before=[f"hold out {thing} to {goal.who}"], words=dice.line("answering.show_thing"), to=goal.who)
    return Plan(before=[f"give {thing} to {goal.who}"], words=dice.line("answering.hand_over"), to=goal.who)


def _quietly(stage: Stage, name: str) -> str:
    return "quietly" if stage.others(name) else ""
