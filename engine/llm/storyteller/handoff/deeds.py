"""What was done, as it would be told: how much it weighs, and what became of it."""

import re
from functools import cache

from engine.llm.storyteller.handoff.cast import is_person
from engine.llm.storyteller.handoff.hearsay import shorter_way
from engine.llm.storyteller.handoff.moments import Moment
from engine.llm.storyteller.handoff.recasting import Recast
from engine.llm.storyteller.handoff.report import Report, Scene
from engine.llm.storyteller.handoff.salience import kinds
from engine.llm.storyteller.handoff.sentence import opened
from engine.llm.storyteller.handoff.wordforms import reading
from engine.llm.storyteller.language.text import sentences
from engine.llm.storyteller.phrases import lines

_AMBIENT = 1
_MATTERS = frozenset(("death", "violence", "crime", "secret", "money", "things"))
_TRIED = re.compile(r"^(?:tried|attempted|began|started|meant|struggled|wanted) ")
_AND = re.compile(r",? and (?:then |also |so )?(?=\w)|, (?:then )?(?=\w+ed\b)")
_ASKED = re.compile(r"\b(?:asked|demanded|begged|questioned)\b")
_SHUT = re.compile(r"\b(?:locked|barred|bolted|sealed|nailed|blocked)\b")
_MUCH = 7
_LOOKING = re.compile(
    r"^(?:looked|glanced|watched|gazed|stared|turned|moved|waited|leaned|studied|weighed|touched|felt|listened|went from)\b"
)


@cache
def _weights() -> tuple[tuple[int, re.Pattern[str]], ...]:
    split = [line.split(" :: ", 1) for line in lines("remembering_deeds")]
    return tuple(
        (int(weight), re.compile(pattern.replace(r"P\d", r"[PT]\d").replace("{person}", r"P\d+"), re.IGNORECASE))
        for weight, pattern in split
    )


def deed_report(moment: Moment, scene: Scene) -> Report:
    """What a deed amounts to. What was only tried weighs a little less, and is told as tried."""
    deed = shorter_way(first_sentence(moment.words))
    weight = weight_of(_things_marked(deed, scene))
    if not moment.who or not deed:
        return Report(moment, "", "ambient", _AMBIENT)
    if moment.failed or _TRIED.match(deed):
        weight = max(2, weight - 1) if weight > 2 else weight
    if moment.failed:
        shut = _SHUT.search(moment.reason) is not None
        return Report(moment, failed(deed, moment, scene), "failed", min(8, max(weight, 3) if shut else weight))
    if _ASKED.search(deed):
        return Report(moment, deed, "ask", weight)
    act = "give" if weight == 6 and re.match(r"(?:gave|handed|passed|paid|returned|brought|counted out|slid|slipped)\b", deed) else "deed"
    return Report(moment, deed, act, weight)


def _things_marked(deed: str, scene: Scene) -> str:
    """A deed in which what is no person is T3 instead of P3: to push somebody is not to push a letter out of sight."""

    def marked(match: re.Match[str]) -> str:
        one = scene.cast.person(match[0])
        person = one.owner or not one.name or match[0] in scene.acting or is_person(one.name)
        return match[0] if person else f"T{match[0][1:]}"

    return re.sub(r"\bP\d+\b", marked, deed)


def first_sentence(text: str) -> str:
    """A deed without what follows its first sentence, without its full stop."""
    said = sentences(text)
    return said[0].rstrip(" .!\u2026") if said else ""


def weight_of(deed: str) -> int:
    """The weight of the weightiest part of a deed."""
    parts = [part for part in (tried(part) for part in [deed, *_AND.split(deed)[1:]]) if part]
    heaviest = max((_part_weight(part) for part in parts), default=_AMBIENT)
    if 2 <= heaviest <= 4 and kinds(deed) & _MATTERS and not _LOOKING.match(deed):
        heaviest += 1
    return heaviest


def tried(deed: str) -> str:
    """The deed that was tried, in the past: `tried to open the hatch` gives `opened the hatch`."""
    match = re.match(r"^(?:tried|attempted|began|started|meant|struggled|wanted)(?:, [^,]+,)? to (\w+)(.*)$", deed)
    found = reading(match[1], "base") if match else None
    return f"{found.past}{match[2]}" if match and found else deed


def _part_weight(part: str) -> int:
    return next((weight for weight, pattern in _weights() if pattern.match(part)), _AMBIENT)


def failed(deed: str, moment: Moment, scene: Scene) -> str:
    """A deed that came to nothing, with its reason when that can be told."""
    reason = _reason(moment, scene)
    if _TRIED.match(deed):
        return f"{deed}, but {reason}" if reason else f"{deed} and could not"
    base = _in_base(deed)
    if base:
        return f"tried to {base}, but {reason}" if reason else f"tried to {base} and could not"
    return f"{deed}, to no avail"


def _in_base(deed: str) -> str:
    """`went to the door and opened it` as `go to the door and open it`; empty when its verb is not known."""
    words = deed.split()
    found = reading(words[0], "past")
    if found is None and words[0].endswith("ed") and len(words[0]) > 4:
        return ""
    if found is None:
        return ""
    words[0] = found.base
    for index in range(2, len(words)):
        if words[index - 1] in ("and", "then") and (more := reading(words[index], "past")) is not None and not more.nounish:
            words[index] = more.base
    return " ".join(words)


def _reason(moment: Moment, scene: Scene) -> str:
    """Why it failed, as a clause in the past; empty when nothing is known or it cannot be told."""
    if not moment.reason or len(moment.reason.split()) > 2 * _MUCH + 2:
        return ""
    recast = Recast(opened(first_sentence(moment.reason)), scene.grounds(moment))
    told = recast.text()
    if not told or not recast.finite:
        return ""
    return told if re.match(r"P\d|[A-Z][a-z]+ [A-Z]", told) else told[:1].lower() + told[1:]
