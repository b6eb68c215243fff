"""What somebody is pressed for: the question that the same one asked before."""

import re
from collections.abc import Sequence

from engine.llm.storyteller.handoff.moments import Moment, near
from engine.llm.storyteller.handoff.questions import WH
from engine.llm.storyteller.handoff.report import Report

_WHOM = r"(?:P\d+(?:, | and )?)+ ?"
_ASKED = re.compile(rf"^asked (?:{_WHOM})?(?:again )?(?P<matter>(?:about|for) .+|{WH} .+)$")
_PRESSED = re.compile(rf"^pressed (?:{_WHOM})?(?P<matter>(?:about|for|to say) .+)$")
_ANSWER = "for an answer"


def pressed_for(moment: Moment, before: Sequence[Report]) -> tuple[str, int]:
    """What a speech presses its hearer for, `about the casks` or `to say who sang`, and the index of the moment in which that was
    asked first; empty and -1 when the pool does not tell it."""
    for report in reversed(before):
        if report.moment.mode != "said" or report.moment.place != moment.place or not near(report.moment, moment):
            continue
        if report.subject != moment.who or not set(report.moment.to) & set(moment.to):
            continue
        pressed = _PRESSED.match(report.predicate)
        if pressed and pressed["matter"] != _ANSWER:
            return pressed["matter"], report.after
        asked = _ASKED.match(report.predicate)
        if asked and report.act in ("ask", "request"):
            matter = asked["matter"].partition(";")[0]
            return (matter if matter.startswith(("about ", "for ")) else f"to say {matter}"), report.moment.index
    return "", -1
