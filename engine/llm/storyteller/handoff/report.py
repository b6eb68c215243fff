"""One moment as it would be told: who, what, and how much it weighs."""

from dataclasses import dataclass

from engine.llm.storyteller.handoff.cast import Cast
from engine.llm.storyteller.handoff.moments import Moment, Story
from engine.llm.storyteller.handoff.sentence import Grounds, proper_words


@dataclass(frozen=True, slots=True)
class Report:
    """What a moment amounts to."""

    moment: Moment
    predicate: str
    """What its subject did, past tense, without subject and full stop; empty when there is nothing to tell."""
    act: str
    weight: int
    """1 (ambient) to 10 (death)."""
    quote: str = ""
    """Words of the speech worth keeping as they were said."""
    bare: bool = False
    """Whether the predicate says nothing without those words."""
    brief: str = ""
    """The predicate where an account tells the moment before that it comes back to, `after`, as well."""
    after: int = -1
    """Index of that moment; -1 for none."""

    @property
    def subject(self) -> str:
        """Handle of who did it."""
        return self.moment.who

    @property
    def text(self) -> str:
        """The clause."""
        return f"{self.subject} {self.predicate}"


@dataclass(frozen=True)
class Scene:
    """What telling a moment needs to know of the rest."""

    cast: Cast
    proper: frozenset[str]
    acting: frozenset[str] = frozenset()
    """Handles of those who do, say or think anything, or are spoken to."""

    @classmethod
    def of(cls, story: Story) -> "Scene":
        """The scene of a story."""
        acting = frozenset(handle for moment in story.moments for handle in (moment.who, *moment.to) if handle)
        return cls(story.cast, proper_words([moment.words for moment in story.moments], story.cast), acting)

    def grounds(self, moment: Moment) -> Grounds:
        """Who `I` and `you` are in a moment's words."""
        return Grounds(self.cast, self.cast.person(moment.who), tuple(self.cast.person(handle) for handle in moment.to), self.proper)
