"""What is left to do with those present, and what the viewer has noted of it: lines of `What you mean to do` (DESIGN 9)."""

from collections.abc import Sequence

from engine.prompts.scene import Scene
from engine.records.sessions import Pursuit, SessionId


def pursuits(scene: Scene, found: Sequence[Pursuit]) -> list[tuple[SessionId, str]]:
    """A line for each task and note of open sessions with those here, with the session it is from: tasks first.

    Those who are elsewhere bring nothing to mind.
    """
    here = [pursuit for pursuit in found if pursuit.actor_id in scene.senses.here]
    tasks = [(one.session_id, f"Still to do with {scene.name(one.actor_id)}: {scene.say(task)}") for one in here for task in one.tasks]
    notes = [(one.session_id, f"You note: {_worded(scene, key)}: {scene.say(text)}") for one in here for key, text in one.scratch.items()]
    return [*tasks, *notes]


def _worded(scene: Scene, key: str) -> str:
    """`ruled out`. Keys are words joined by `_`; ids in tokens may have that, too."""
    return scene.say(key if "{{" in key else key.replace("_", " "))
