"""Whom words are spoken to, when they call somebody: `Gareth, come here.`, `Not tonight, stranger.`"""

import re

from engine.llm.storyteller.language.roster import Roster
from engine.llm.storyteller.language.text import sentences

_OPENERS = r"and|but|so|now|no|yes|aye|ah|oh|well|listen|look|here|good (?:morning|evening|day)|evening|morning|hello|you"
_FIRST = re.compile(rf"^(?:(?:{_OPENERS}),? )?([^,!?.]{{2,40}})[,!?]", re.IGNORECASE)
_LAST = re.compile(r",\s+([^,!?.…]{2,40})[.!?…,]*$")
_MIDDLE = re.compile(r",\s+([^,!?.…]{2,40}),")


def addressed(words: str, roster: Roster) -> tuple[str, ...]:
    """Handles of the people a speech calls by name or label, in order, each once; never the speaker."""
    found: list[str] = []
    for sentence in sentences(words):
        candidates = [match[1] for pattern in (_FIRST, _LAST, _MIDDLE) for match in [pattern.search(sentence)] if match]
        if len(sentence.split()) <= 3:
            candidates.append(sentence)
        for candidate in candidates:
            handle = roster.names.of(candidate)
            one = roster.get(handle) if handle else None
            if one and not one.me and not one.thing and one.handle not in found:
                found.append(one.handle)
    return tuple(found)
