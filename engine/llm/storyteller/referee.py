"""Task `referee`: deeds judged by a list of rules and even-handed chance, with the reason first."""

import re
from dataclasses import dataclass
from functools import cache

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.chance import pick, share
from engine.llm.storyteller.language.roster import Roster, read_roster
from engine.llm.storyteller.language.text import capital
from engine.llm.storyteller.language.verbs import verb
from engine.llm.storyteller.phrases import lines
from engine.llm.storyteller.sense import absurd, is_gesture
from engine.records.prompts import split_sections
from engine.records.wire import RefereeReply, WireChange

_MAGIC = re.compile(r"\b(?:magic|spell|sorcer|wizard|witch|enchant|psionic|arcane)", re.IGNORECASE)
_GIVEN = re.compile(r"^(?:gave|handed|passed|slid|returned|tossed|slipped) (P\d+) to (P\d+)\b|^(?:gave|handed|passed) (P\d+) (P\d+)\b")
_PUT_DOWN = re.compile(
    r"^(?:put|set|laid) (?:down )?(P\d+)(?: down)?\b(?! (?:on P|away|back|out of|in|into|inside|under|between|to))"
    r"|^(?:put|set|laid) down (P\d+)\b|^dropped (P\d+)\b"
)
_FAINTED = re.compile(r"^(?:fainted|collapsed|passed out|lost consciousness|swooned)\b")
_ROUSED = re.compile(r"^(?:woke|roused|shook|slapped) (P\d+)(?: up| awake)?\b")


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of judging."""

    pattern: re.Pattern[str]
    minutes: int
    odds: int
    refusals: tuple[str, ...]
    success: str


@cache
def _rules() -> tuple[Rule, ...]:
    split = [line.split(" :: ") for line in lines("referee")]
    return tuple(
        Rule(re.compile(pattern, re.IGNORECASE), int(minutes), int(odds), tuple(one.strip() for one in refusals.split("/")), success)
        for pattern, minutes, odds, refusals, success in split
    )


def judge(request: ModelRequest) -> str:
    """The reply to task `referee` as JSON. The same deed in the same round always ends the same way."""
    sections = split_sections(request.messages[-1].content)
    action, _, prose = sections.get("ACTION", "").strip().partition("\nProse:")
    roster = read_roster(f"{sections.get('ACTOR', '')}\n{sections.get('PRESENT', '')}", sections.get("WAYS", ""))
    deed = action.strip() or prose.strip()
    tried = re.sub(r"^(?:tried|attempted|began|started) to (\w+)", lambda match: verb(match[1]).past, deed)
    if is_gesture(deed):
        return RefereeReply(reason="Nothing stands in the way.", possible=True, minutes=0).model_dump_json()
    awake = [one.handle for one in roster.listed if not (one.thing or one.me or one.status)]
    around = "\n".join(sections.get(name, "") for name in ("ACTOR", "PRESENT", "PLACE", "WAYS"))
    nonsense = absurd(deed, around, awake, request.seed, request.round, deed)
    if nonsense and not _magical(sections):
        return RefereeReply(reason=capital(nonsense) + ".", possible=False, minutes=0).model_dump_json()
    someone = _done_to(deed, roster) != "the other"
    fitting = (rule for rule in _rules() if someone or "\\bP" not in rule.pattern.pattern)
    rule = next(rule for rule in fitting if rule.pattern.search(deed) or rule.pattern.search(tried) or rule.pattern.pattern == ".")
    odds = 60 if rule.odds == 0 and "conjured" in rule.pattern.pattern and _magical(sections) else rule.odds
    possible = share(request.seed, request.round, request.entity, deed) * 100 < odds
    reason = rule.success if possible else pick(rule.refusals, request.seed, request.round, deed)
    reason = "Nothing stands in the way." if reason == "-" else capital(reason.replace("{it}", _done_to(deed, roster)))
    changes = _changes(deed, roster) if possible else []
    return RefereeReply(reason=reason, possible=possible, minutes=rule.minutes, changes=changes).model_dump_json()


def _magical(sections: dict[str, str]) -> bool:
    return any(_MAGIC.search(sections.get(name, "")) for name in ("ACTOR", "PLACE", "PRESENT"))


def _done_to(deed: str, roster: Roster) -> str:
    """Handle of the first person the deed names, else `the other`."""
    people = {one.handle for one in roster.listed if not one.thing and not one.me}
    return next((handle for handle in re.findall(r"\bP\d+\b", deed) if handle in people), "the other")


def _changes(deed: str, roster: Roster) -> list[WireChange]:
    """Only what the words plainly say."""
    things = {one.handle for one in roster.listed if one.thing}
    people = {one.handle for one in roster.listed if not one.thing}
    if match := _GIVEN.match(deed):
        thing, receiver = (match[1], match[2]) if match[1] else (match[4], match[3])
        return [WireChange(kind="give", target=thing, to=receiver)] if thing in things and receiver in people else []
    if match := _PUT_DOWN.match(deed):
        thing = match[1] or match[2] or match[3]
        return [WireChange(kind="drop", target=thing)] if thing in things else []
    if _FAINTED.match(deed):
        return [WireChange(kind="set", target="P1", name="status", value="unconscious")]
    if match := _ROUSED.match(deed):
        awake = match[1] in people and (deed.startswith(("woke", "roused")) or "awake" in deed)
        return [WireChange(kind="set", target=match[1], name="status", value="awake")] if awake else []
    return []
