"""Next steps: what somebody has taken on, or was asked, to do when the talk is over."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.llm.storyteller.claims.complement import HANDLE
from engine.llm.storyteller.claims.reading import Claim, read_claims
from engine.llm.storyteller.collapse.heard import Heard, together
from engine.llm.storyteller.collapse.patterns import pattern
from engine.llm.storyteller.collapse.talk import Talk
from engine.llm.storyteller.collapse.thirdperson import in_third_person
from engine.llm.storyteller.handoff.salience import topics
from engine.llm.storyteller.phrases import words

LONGEST: Final = 120
_ASKING: Final = 4
"""Words of asking somebody about something."""
_NEEDS = frozenset(("must", "have to", "need to", "ought to", "had better"))
"""What only the one whose memory it is takes for its own next step: of another it is a fact."""
_BOTH = re.compile(r"^(?:so |then |first )*,? ?we (?:must|have to|need to|ought to|should|had better) (?P<deed>[a-z]+\b.+)$", re.IGNORECASE)
_REQUEST = re.compile(r"^(?:(?:will|would|could|can) you )(?:please )?(?P<deed>[a-z]+\b.+)$", re.IGNORECASE)
_NOTHING_YET = re.compile(
    r"\b(?:if i (?:could|were)|if only|anything|something|nothing|anybody|somebody|what i can|as you (?:like|wish|say))\b", re.IGNORECASE
)
_ASK_ALONE = re.compile(r"\b[Aa]sk (?:P\d+|[A-Z][\w'-]+(?: [A-Z][\w'-]+)?|him|her|the [a-z]+)$")
_OR_ELSE = re.compile(r",? (?:or|and|but|so) (?:i|you|we|he|she|they|it|else)\b.*$", re.IGNORECASE)
_GIVEN = re.compile(r"^(?:here (?:is|are|it is)|take|there you are)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do."""

    content: str
    who: str
    """Whose it is: a handle, or both who talk."""
    by_asking: bool
    """Whether another asked for it."""
    claims: tuple[Claim, ...]
    turn: str
    index: int

    @property
    def elsewhere(self) -> bool:
        """Whether it sends somebody to another person."""
        return any(claim.relation.startswith(("will:ask", "must:ask", "will:see", "will:speak", "will:talk")) for claim in self.claims)


@cache
def _doing() -> frozenset[str]:
    return words("collapsing_doing")["doing"]


def steps_of(sentences: Sequence[Heard], talk: Talk) -> list[Step]:
    """What is still to be done when a talk ends, in order: what was refused or has been done since is left out."""
    found: list[Step] = []
    asked: Heard | None = None
    for one in sentences:
        asked = one if one.asking else asked
        if one.turn.note or (one.turn.who and _GIVEN.match(one.said)):
            found = [step for step in found if not _done(step, one)]
            continue
        if found and _refused(found[-1], one):
            found.pop()
        step = _step(one, asked, talk)
        if step is not None and all(step.content != other.content for other in found):
            found.append(step)
    return found


def _refused(step: Step, one: Heard) -> bool:
    """Whether a sentence says no to what was asked right before."""
    asked = step.by_asking and one.first and one.turn.who == step.who and one.turn.index == step.index + 1
    return asked and pattern("no").match(one.said) is not None


def _step(one: Heard, asked: Heard | None, talk: Talk) -> Step | None:
    text = one.plain if asked is None else _ASK_ALONE.sub(lambda match: _about(match, asked), one.plain)
    if not one.turn.who or _NOTHING_YET.search(text):
        return None
    promised, both = (pattern("promised").match(text), _BOTH.match(text)) if not one.asking else (None, None)
    ours = promised is not None and (one.turn.who == talk.agent or promised["how"].lower() not in _NEEDS)
    if promised is not None and ours and not pattern("at_once").match(promised["deed"]):
        return _made(one.turn.who, promised["deed"], one, talk, by_asking=False)
    if both is not None:
        return _made(f"{talk.agent} and {talk.other}", both["deed"], one, talk, by_asking=False)
    if not one.turn.to:
        return None
    wanted = _REQUEST.match(text) if one.asking else pattern("asked_of").match(text)
    if wanted is not None and not pattern("at_once").match(wanted["deed"]):
        return _made(one.turn.to, wanted["deed"], one, talk, by_asking=True)
    if one.ordering and not one.asking:
        deed = pattern("please").sub("", text)
        if not pattern("at_once").match(deed):
            return _made(one.turn.to, deed[:1].lower() + deed[1:], one, talk, by_asking=True)
    return None


def _about(match: re.Match[str], asked: Heard) -> str:
    """`Ask P4` with what had been asked, `about the lantern`."""
    about = topics(asked.plain, most=1)
    return f"{match.group()} about the {about[0].partition(' ')[2]}" if about else match.group()


def _made(who: str, deed: str, one: Heard, talk: Talk, *, by_asking: bool) -> Step | None:
    """A step; None when it is none to take on, or cannot be told in the third person."""
    deed = _OR_ELSE.sub("", deed)
    verb = deed.split()[0].lower()
    if verb not in _doing() or len(deed.split()) < 2:
        return None
    told = in_third_person(f"will {deed}", together(one, talk), one.focus)
    if not told:
        return None
    content = f"{who} {told}"
    claims = read_claims(content)
    alone = verb == "ask" and len(deed.split()) < _ASKING
    if not claims or alone or not (claims[0].head or claims[0].times or claims[0].names or claims[0].place):
        return None
    if by_asking:
        content = content.replace(" will ", " are to " if " and " in who else " is to ", 1)
    return Step(f"{content.rstrip('.')}.", who, by_asking, claims, one.turn.handle, one.turn.index) if len(content) < LONGEST else None


def _done(step: Step, one: Heard) -> bool:
    """Whether a note, or a word that goes with handing something over, shows that a step has been taken."""
    if HANDLE.fullmatch(step.who) is None:
        return False
    doer = one.turn.who or next(iter(HANDLE.findall(one.turn.words)), "")
    head = step.claims[0].head
    claims = read_claims(one.told) if one.turn.note else read_claims(f"{doer} gives {one.plain.partition(' is ')[2] or one.plain}")
    return doer == step.who and bool(head) and any(claim.head == head for claim in claims)
