"""Goals as prose, read for what they ask of a character: `ask the innkeeper about the loft`, `keep the debt secret`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from engine.llm.storyteller.language.persons import clause_to_face
from engine.llm.storyteller.language.speechacts import stems_of
from engine.llm.storyteller.phrases import lines

GoalKind = Literal[
    "ask", "find_out", "tell", "warn", "threaten", "keep", "get", "give", "go", "listen", "avoid", "watch", "befriend", "persuade",
    "other",
]  # fmt: skip

_EMBEDDED = r"(?P<clause>(?:who|whom|whose|what|when|where|why|how|whether|if|which)\b.+)"


@cache
def _forms() -> tuple[tuple[GoalKind, re.Pattern[str]], ...]:
    split = [line.split(" :: ") for line in lines("goals")]
    return tuple((cast(GoalKind, kind), re.compile(pattern.replace("{wh}", _EMBEDDED), re.IGNORECASE)) for kind, pattern in split)


@dataclass(frozen=True)
class Goal:
    """One goal, understood as far as its words allow."""

    kind: GoalKind
    text: str
    who: str = ""
    """Whom it concerns, as the character names that one."""
    topic: str = ""
    """A noun phrase: `the night of the wreck`."""
    clause: str = ""
    """An embedded question: `who put out the lantern`."""
    place: str = ""
    deed: str = ""
    """What another should do: `say nothing about the loft`."""

    @property
    def subject(self) -> str:
        """What it is about, in words."""
        return self.topic or self.clause or self.deed or self.place or self.who

    @property
    def stems(self) -> frozenset[str]:
        """Stems of what it is about, people aside."""
        return stems_of(self.topic or self.clause or self.deed or self.place)

    @property
    def question(self) -> str:
        """The embedded question as put to the one it concerns."""
        return clause_to_face(self.clause) if self.who else self.clause

    @property
    def asks(self) -> bool:
        """Whether it is pursued by asking questions."""
        return self.kind in ("ask", "find_out")


def read_goal(text: str, people: Sequence[str] = ()) -> Goal:
    """A goal from its line. `people` are known names, longest first: they settle where a name ends."""
    line = text.strip().rstrip(".")
    line = re.sub(r"^(?:to|try to|I (?:want|mean|need) to|must|should) ", "", line)
    shielded, names = _shield(line, people)
    for kind, pattern in _forms():
        match = pattern.fullmatch(shielded)
        if match is None:
            continue
        parts = {name: _unshield(value or "", names) for name, value in match.groupdict().items()}
        deed = f"not {parts['deed']}" if parts.pop("not", "") else parts.get("deed", "")
        return Goal(kind, line, **{**parts, "deed": deed})
    found = next((name for name in people if name.casefold() in line.casefold()), "")
    return Goal("other", line, found, topic=line)


def _shield(line: str, people: Sequence[str]) -> tuple[str, list[str]]:
    """Names replaced by marks of one word each, so that `the man who sings` is not read as a question."""
    names: list[str] = []
    for name in people:
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        if pattern.search(line):
            line = pattern.sub(f"<{len(names)}>", line)
            names.append(name)
    return line, names


def _unshield(text: str, names: Sequence[str]) -> str:
    return re.sub(r"<(\d+)>", lambda match: names[int(match[1])], text).strip()
