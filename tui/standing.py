"""How things stand with models: who speaks, what was spent, which caps hold, what is recorded."""

from dataclasses import replace

from tui.calls import TASKS
from tui.host import GameHost
from tui.view import WorldView


def standing(view: WorldView, host: GameHost) -> WorldView:
    """The view with all this as it is now."""
    if (game := host.game) is None:
        return view
    desk = game.models
    actor, others = desk.speaking("actor"), {task: desk.speaking(task).model for task in TASKS}
    return replace(
        view, speaker=actor.model, away=actor.away, others={task: name for task, name in others.items() if name != actor.model},
        spent=desk.meter.total, caps=desk.caps(), recording=str(host.recording or ""), asks=desk.calls.asks,
    )
