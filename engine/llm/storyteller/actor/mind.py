"""What a character could say about a matter, and what it would rather not."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from engine.llm.storyteller.actor.dice import Dice
from engine.llm.storyteller.actor.retelling import own_act, retold
from engine.llm.storyteller.actor.scene import Scene
from engine.llm.storyteller.language.persons import confessed, to_face
from engine.llm.storyteller.language.text import capital, sentences

Manner = Literal["hard", "soft", "sly"]
Source = Literal["known", "memory", "seen", "self"]

_PRIVATE = re.compile(r"\b(?:secret|guilt|fear|shame|crime|sin|hidden|lie|plot|plan|doubt|debt)\b")
_PERSONAL = re.compile(r"\b(?:wish|hope|dream|love|regret|longing|worry|doubt)\b")
_ASIDE = frozenset(("name", "appearance", "label", "status", "temper", "manner", "temperament", "voice", "age"))
_SOFT = re.compile(r"\b(?:boy|girl|child|young|timid|shy|gentle|kind|nervous|afraid|frail|stooped|novice|apprentice|thin|soft|humble)\b")
_SLY = re.compile(r"\b(?:neat|elegant|clean|ink|clerk|sly|courteous|polite|clever|pedlar|merchant|noble|smooth|officer|silver|spy)\b")
_HARD = re.compile(r"\b(?:broad|heavy|scarred|burly|rough|stern|angry|hard|soldier|guard|tall|strong|harsh|proud|loud|captain|smith)\b")
_TELLING = re.compile(
    r"^(?:gave|took|handed|unlocked|locked|opened|hid|broke|struck|hit|attacked|carried|burned|showed|held out|dropped|stole|woke)\b"
)
"""Deeds of others that are worth telling."""
_LONGEST = 30
"""Words of a fact as it is told."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the character could say, in its own mouth."""

    text: str
    stems: frozenset[str]
    source: Source
    guarded: bool = False
    """It would give away what the character hides."""


class Mind:
    """A character's knowledge for answering, and its reserve."""

    def __init__(self, scene: Scene, dice: Dice) -> None:
        self._scene = scene
        self._dice = dice

    @cached_property
    def manner(self) -> Manner:
        """How it deals with people: by what is written of it, else by its own unchanging chance."""
        text = " ".join((*self._scene.traits.values(), *self._scene.voice)).lower()
        counts: dict[Manner, int] = {
            "hard": len(_HARD.findall(text)), "soft": len(_SOFT.findall(text)), "sly": len(_SLY.findall(text)),
        }  # fmt: skip
        kinds: tuple[Manner, ...] = ("hard", "soft", "sly")
        start = int(self._dice.lasting("manner") * 3)
        order = [*kinds[start:], *kinds[:start]]
        return max(order, key=lambda kind: counts[kind])

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """What is written of it that it keeps to itself."""
        return tuple(value for title, value in self._scene.traits.items() if _PRIVATE.search(title) and not _PERSONAL.fullmatch(title))

    @cached_property
    def hidden_topics(self) -> tuple[str, ...]:
        """Noun phrases of what it means to keep secret."""
        return tuple(goal.topic for goal in self._scene.goals if goal.kind == "keep" and goal.topic)

    @cached_property
    def _secret_stems(self) -> frozenset[str]:
        return frozenset().union(*(self._scene.matter(text) for text in self.secrets))

    @cached_property
    def _topic_stems(self) -> frozenset[str]:
        return frozenset().union(*(self._scene.matter(text) for text in self.hidden_topics))

    @cached_property
    def _asked_stems(self) -> frozenset[str]:
        return frozenset().union(*(goal.stems for goal in self._scene.goals if goal.asks))

    def touches_secret(self, matter: frozenset[str]) -> bool:
        """Whether a matter comes near what it hides. What it openly asks about itself does not."""
        matter = matter - (self._asked_stems - self._topic_stems)
        return bool(matter & self._topic_stems) or len(matter & self._secret_stems) >= (2 if len(matter) > 2 else 1)

    @property
    def confession(self) -> str:
        """The weightiest secret as its owner would own up to it; empty when there is none."""
        return _short(confessed(self.secrets[0], self._scene.gender)) if self.secrets else ""

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Everything it could say, each once."""
        scene = self._scene
        found: list[tuple[str, Source]] = [(line, "known") for line in scene.knowledge]
        found += [(told, "memory") for memory in scene.memories if not memory.thought for told in retold(memory.text)]
        found += [
            (capital(f"{event.who} {event.text}."), "seen")
            for event in scene.events
            if event.kind == "done" and not event.mine and not event.failed and _TELLING.match(event.text)
        ]
        texts = dict.fromkeys((_short(text), source) for text, source in found)
        facts: list[Fact] = []
        for text, source in texts:
            stems = scene.matter(text)
            facts.append(Fact(text, stems, source, source != "known" and self.touches_secret(stems)))
        return tuple(facts)

    @cached_property
    def _rarity(self) -> Counter[str]:
        return Counter(stem for fact in self.facts for stem in fact.stems)

    def about(self, stems: frozenset[str], *, listener: str = "", guarded: bool = False, focus: str = "") -> str:
        """What it would say about a matter to a listener: the fact that fits best and was not told lately; empty for none.

        With a `focus`, only facts that have this stem in them.
        """
        told = [event.stems for event in self._scene.events if event.kind == "said"]
        best: tuple[float, Fact] | None = None
        for fact in self.facts:
            if not self._would_tell(fact) or (focus and focus not in fact.stems):
                continue
            common = fact.stems & stems
            weight = sum(1 / self._rarity[stem] for stem in common)
            if not common or (fact.guarded and not guarded) or (weight < 0.5 and len(common) < 2):
                continue
            if fact.source == "seen" and len(common) < 2:
                continue
            if any(len(fact.stems & said) > 0.6 * len(fact.stems) for said in told) or own_act(fact.text, listener):
                continue
            score = weight + len(common) + {"memory": 0.5, "known": 0.0, "seen": -0.5, "self": 0.0}[fact.source]
            if best is None or score > best[0]:
                best = score, fact
        return to_face(best[1].text, listener) if best else ""

    def _would_tell(self, fact: Fact) -> bool:
        """What everybody knows not everybody thinks of: each has its own half of it."""
        if fact.source != "known" or len(self._scene.knowledge) < 3:
            return True
        return self._dice.lasting(f"tells {fact.text}") < 0.5

    def trade(self) -> str:
        """What it does in the world, in its own mouth; empty when nothing is written."""
        for title, value in self._scene.traits.items():
            if title in ("trade", "role", "occupation", "work", "profession", "job", "rank", "duty"):
                return _short(confessed(value, self._scene.gender))
        return ""

    def friend(self, name: str) -> bool:
        """Whether it wishes somebody well."""
        return any(goal.who == name and goal.kind in ("warn", "tell", "befriend", "watch") for goal in self._scene.goals)

    def foe(self, name: str) -> bool:
        """Whether it has reason to be on its guard against somebody."""
        scene = self._scene
        if any(goal.who == name and goal.kind in ("threaten", "avoid", "get", "keep") for goal in scene.goals):
            return True
        return any(event.who == name and event.to_me and event.kind == "said" and event.act == "threat" for event in scene.events)


def _short(text: str) -> str:
    """As many of the first sentences as can be said in one breath."""
    kept: list[str] = []
    for sentence in sentences(text):
        if kept and len(" ".join([*kept, sentence]).split()) > _LONGEST:
            break
        kept.append(sentence)
    said = " ".join(kept).replace('"', "'").replace("*", "").strip()
    return capital(said if said[-1:] in ".!?…'" else f"{said}.")
