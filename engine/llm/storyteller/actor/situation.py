"""What has happened around a character since it last did anything, and how far its dealings with each other one have gone."""

import re
from functools import cached_property

from engine.llm.storyteller.actor.dice import is_stock, phrases
from engine.llm.storyteller.actor.events import FRESH, Event
from engine.llm.storyteller.actor.scene import Person, Scene
from engine.llm.storyteller.handoff.bank import known
from engine.llm.storyteller.language.speechacts import stems_of

_EVASIVE_WORDS = 9
_LATELY = (*FRESH, "about half an hour ago", "about an hour ago")
_ASKING = ("question", "accusation", "request", "ask_name")


class Situation:
    """The scene's events, read for obligations."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @cached_property
    def _mine(self) -> int:
        """Index of the character's last outward event, or -1."""
        return max((at for at, event in enumerate(self._scene.events) if event.mine and event.kind != "thought"), default=-1)

    @cached_property
    def news(self) -> tuple[Event, ...]:
        """What others did since, if it is no more than half an hour ago."""
        return tuple(event for event in self._scene.events[self._mine + 1 :] if event.fresh and not event.mine)

    @cached_property
    def fresh(self) -> tuple[Event, ...]:
        """All of the last half hour, the character's own included."""
        return tuple(event for event in self._scene.events if event.fresh)

    @cached_property
    def pending(self) -> Event | None:
        """The last thing said to it, by somebody here and awake, that it has not answered. A question outweighs a later remark."""
        said = [event for event in self.news if event.kind == "said" and event.to_me and self.partner(event.who)]
        urgent = [event for event in said if event.act in ("threat", "question", "ask_name", "accusation", "request")]
        considered = urgent or said
        own = [event for event in considered if known(event.text) is None]  # a speech of nobody's making but the speaker's comes first
        return own[-1] if own else considered[-1] if considered else None

    def partner(self, name: str) -> Person | None:
        """Somebody here and awake."""
        found = self._scene.person(name)
        return found if found and found.awake else None

    @cached_property
    def last_words(self) -> Event | None:
        """What the character said last, if lately."""
        return next((event for event in reversed(self.fresh) if event.mine and event.kind == "said"), None)

    def asked(self, name: str) -> Event | None:
        """The character's question, with a matter of its own, that somebody may be answering now."""
        last = self.last_words
        if last is None or name not in last.whom or last.act not in _ASKING:
            return None
        return next(
            (
                event
                for event in reversed(self.fresh[-12:])
                if event.mine and event.kind == "said" and name in event.whom and event.act in _ASKING and self._scene.matter(event.text)
            ),
            None,
        )

    def asked_by(self, name: str) -> Event | None:
        """What somebody has lately been asking the character about: the last question of theirs with a matter of its own."""
        asked = (event for event in reversed(self.fresh[-12:]) if event.who == name and event.to_me and event.kind == "said")
        return next((event for event in asked if event.act in ("question", "accusation") and self._scene.matter(event.text)), None)

    def exchange(self, name: str) -> int:
        """How often the character has spoken to somebody lately."""
        return sum(event.mine and event.kind == "said" and name in event.whom for event in self.fresh[-16:])

    def questions_to(self, name: str) -> int:
        """How often the character has asked somebody something lately."""
        return sum(event.mine and event.kind == "said" and name in event.whom and event.act in _ASKING for event in self.fresh[-16:])

    def asked_about(self, stems: frozenset[str], name: str = "") -> bool:
        """Whether the character has lately spoken of a matter, to somebody or at all."""
        return any(
            event.mine and event.kind == "said" and (not name or name in event.whom) and len(event.stems & stems) * 2 >= max(len(stems), 1)
            for event in self.fresh
        )

    def asked_of(self, stems: frozenset[str], name: str) -> int:
        """How often the character has put a matter to somebody: as far as it can tell from what it remembers of the last hours."""
        now = sum(
            event.mine and event.kind == "said" and name in event.whom and event.act in _ASKING and _same(event.stems, stems)
            for event in self._scene.events
        )
        opening = f"You asked {name} "
        told = [memory for memory in self._scene.memories if memory.when in _LATELY and opening in f"{memory.text} "]
        return now + sum(_same(stems_of(memory.text.split(opening, 1)[-1].split(";")[0]), stems) for memory in told)

    def shown_by(self, name: str) -> str:
        """The thing that somebody has just held out to the character; empty for none."""
        held = (re.match(r"held out (.+?) to you\b", event.text) for event in self.news if event.who == name and event.kind == "done")
        return next((match[1] for match in held if match), "")

    @cached_property
    def shushed(self) -> bool:
        """Whether the character has told others lately to talk of something else."""
        said = {event.text for event in self.fresh if event.mine and event.kind == "said"}
        return any(line in text for text in said for line in phrases("reacting.secret_near"))

    @cached_property
    def sent_to(self) -> frozenset[str]:
        """People whom others have lately told the character to ask."""
        told = " ".join(event.text for event in self.fresh if event.kind == "said" and event.to_me and is_stock(event.text))
        return frozenset(one.name for one in self._scene.here if one.name in told)

    @cached_property
    def alone_for(self) -> int:
        """How many deeds in a row the character has done with nobody to speak to or hear."""
        count = 0
        for event in reversed(self._scene.events):
            if event.kind == "said" or (event.mine and event.went):
                break
            count += event.mine and event.kind == "done"
        return 0 if self._scene.awake_here else count

    @cached_property
    def own_words(self) -> frozenset[str]:
        """What the character itself said or did lately."""
        return frozenset(event.text for event in self._scene.events if event.mine)

    @cached_property
    def arrivals(self) -> tuple[str, ...]:
        """Who has come in and is here."""
        return tuple(event.who for event in self.news if event.went and event.went[1] == self._scene.place and self.partner(event.who))

    @cached_property
    def departures(self) -> tuple[tuple[str, str], ...]:
        """Who has gone, and where to."""
        return tuple((event.who, event.went[1]) for event in self.news if event.went and event.went[0] == self._scene.place)

    @cached_property
    def just_arrived(self) -> bool:
        """Whether the character itself came here with its last act."""
        last = self._scene.events[self._mine] if self._mine >= 0 else None
        return last is not None and last.fresh and last.went is not None

    @cached_property
    def talk_of_others(self) -> tuple[Event, ...]:
        """What others here have just said to each other in its hearing."""
        return tuple(
            event for event in self.news if event.kind == "said" and not event.to_me and event.whom and self.partner(event.who)
        )

    def last_seen(self, name: str) -> str:
        """The place somebody went to when last seen going; empty when not known."""
        return next((event.went[1] for event in reversed(self._scene.events) if event.who == name and event.went), "")

    def knows_my_name(self, name: str) -> bool:
        """Whether somebody has called the character by its name, or was told it lately."""
        own = self._scene.name
        first = own.split()[0] if own else ""
        if not first:
            return True
        for event in self._scene.events:
            told = event.mine and event.kind == "said" and (name in event.whom or not event.whom) and first in event.text
            called = event.who == name and event.kind == "said" and first in event.text
            if told or called:
                return True
        return any(name in memory.text and any(first in quote for quote in memory.quotes) for memory in self._scene.memories)

    def evasive(self, answer: Event, question: Event) -> bool:
        """Whether an answer says nothing about what was asked."""
        apart = not answer.stems & question.stems and len(answer.text.split()) <= 2 * _EVASIVE_WORDS
        return answer.act == "refusal" or is_stock(answer.text) or apart


def _same(stems: frozenset[str], matter: frozenset[str]) -> bool:
    return bool(matter) and len(stems & matter) * 2 >= len(matter)
