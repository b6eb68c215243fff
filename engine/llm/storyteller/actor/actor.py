"""One beat of one character: the weightiest move that offers itself, put into prose."""

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.actor.company import acquaint, call_out, chat, confront, gossip, interrupt, remind, welcome
from engine.llm.storyteller.actor.dice import Dice
from engine.llm.storyteller.actor.idle import bedtime, idle, thought
from engine.llm.storyteller.actor.mind import Mind
from engine.llm.storyteller.actor.plan import Plan, Stage
from engine.llm.storyteller.actor.pursuits import pursue
from engine.llm.storyteller.actor.reactions import alarmed, react
from engine.llm.storyteller.actor.replies import reply
from engine.llm.storyteller.actor.scene import read_scene
from engine.llm.storyteller.actor.scouting import come_back, look_round
from engine.llm.storyteller.actor.situation import Situation
from engine.llm.storyteller.actor.travel import travel
from engine.llm.storyteller.actor.wording import prose


def act(request: ModelRequest) -> str:
    """The reply to task `actor`: prose."""
    scene = read_scene(request)
    by_day = "morning" in scene.time or "afternoon" in scene.time
    dice = Dice(request.seed, request.round, request.entity, heard=(event.text for event in scene.events), by_day=by_day)
    stage = Stage(scene, dice, Situation(scene), Mind(scene, dice))
    plan = _plan(stage)
    _dress(stage, plan)
    listener = scene.person(plan.to) if plan.to else None
    return prose(plan, dice, listener) or "I wait."


def _plan(stage: Stage) -> Plan:
    dice = stage.dice
    for move in (alarmed, travel, react, reply, come_back, bedtime, welcome, look_round):
        plan = move(stage)
        if plan is not None:
            return plan
    if stage.scene.awake_here and dice.share("speak up") < _readiness(stage):
        for move in (acquaint, confront, pursue, remind, gossip, interrupt):
            plan = move(stage)
            if plan is not None:
                return plan
        if dice.share("small talk") < 0.35 and (plan := chat(stage)):
            return plan
    elif plan := interrupt(stage):
        return plan
    return call_out(stage) or idle(stage)


def _readiness(stage: Stage) -> float:
    """How ready one is to begin: less so when others are talking, or when one has just spoken oneself."""
    ready = 0.75
    if stage.situation.talk_of_others:
        ready -= 0.3
    last = next((event for event in reversed(stage.situation.fresh) if event.mine and event.kind != "thought"), None)
    if last is not None and last.kind == "said":
        ready -= 0.2
    return ready


def _dress(stage: Stage, plan: Plan) -> None:
    """Add a thought or a small deed to words that stand alone, now and then."""
    dice = stage.dice
    if plan.words and not plan.before and not plan.after and dice.share("gesture") < 0.1:
        seen = plan.to and stage.scene.person(plan.to)
        plan.before.append(dice.line("stage.watch", person=plan.to) if seen else dice.line("stage.idle"))
    if plan.words and not plan.thought and dice.share("afterthought") < 0.15:
        plan.thought = thought(stage)
