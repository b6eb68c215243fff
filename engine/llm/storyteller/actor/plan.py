"""What a character means to do in one beat, before it is put into prose."""

from dataclasses import dataclass, field
from typing import Literal

from engine.llm.storyteller.actor.dice import Dice
from engine.llm.storyteller.actor.mind import Mind
from engine.llm.storyteller.actor.scene import Scene
from engine.llm.storyteller.actor.situation import Situation

Tone = Literal["say", "ask", "whisper", "shout"]


@dataclass
class Plan:
    """Deeds, words and a thought. Deeds are in the first person without the pronoun: `wipe the counter`."""

    before: list[str] = field(default_factory=list)
    words: str = ""
    to: str = ""
    """Whom the words are for, as the character names that one; empty for everybody."""
    tone: Tone = "say"
    how: str = ""
    """An adverb: `quietly`."""
    after: list[str] = field(default_factory=list)
    thought: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing is meant to be seen or heard."""
        return not (self.before or self.words or self.after)


@dataclass(frozen=True)
class Stage:
    """All that a move needs."""

    scene: Scene
    dice: Dice
    situation: Situation
    mind: Mind

    def others(self, *names: str) -> list[str]:
        """Names of people here and awake other than those given."""
        return [one.name for one in self.scene.awake_here if one.name not in names]
