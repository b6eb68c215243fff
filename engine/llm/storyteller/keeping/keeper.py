"""The reply to a handoff: chunks with sources, account, quotes, importance and pin."""

import re
from collections.abc import Sequence

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.keeping.clusters import Cluster, clustered, kept
from engine.llm.storyteller.keeping.moments import Moment, read_moments
from engine.llm.storyteller.keeping.reported import deadline, sentence
from engine.llm.storyteller.keeping.salience import promises
from engine.llm.storyteller.language.text import capital, sentences
from engine.records.prompts import split_sections
from engine.records.wire import HandoffChunk, HandoffReply

_SENTENCES = 3
_QUOTES = 3
_QUOTED_FROM = 4
"""Weight of a speech from which it is kept word for word."""
_LONGEST_QUOTE = 34
_SETTLED = re.compile(
    r"\b(?:paid|we are even|forget (?:it|that)|never mind|you shall have it|it is settled|i forgive|no more of it|apologi[sz]ed|"
    r"i am sorry|i'm sorry|forgive me|take it, then|here it is|it is yours)\b"
)
_SETTLING_DEED = re.compile(r"^(?:gave|handed|paid|counted out|returned|apologi[sz]ed)\b")


def remember(request: ModelRequest) -> str:
    """The reply to task `handoff` as JSON."""
    sections = split_sections(request.messages[-1].content)
    owner = re.match(r"\[?(P\d+)\]?", sections.get("WHOSE MEMORY", "").strip())
    me = owner[1] if owner else "P1"
    moments = read_moments(sections.get("ENTRIES", ""))
    chunks = [_chunk(cluster, moments, me) for cluster in kept(clustered(moments, me))]
    return HandoffReply(chunks=chunks).model_dump_json()


def _chunk(cluster: Cluster, moments: Sequence[Moment], me: str) -> HandoffChunk:
    told = _worth_telling(cluster)
    account = " ".join(f"{capital(text)}." if text[-1] not in '."' else capital(text) for text in _account(told, cluster, me))
    sources = [moment for moment in cluster.moments if moment.weight or moment.pinned or moment in told]
    named = {handle for moment in sources for handle in moment.people if re.fullmatch(r"P\d+", handle)}
    people = sorted(named - {me}, key=lambda handle: int(handle[1:]))
    return HandoffChunk(
        sourceEntryIds=[moment.handle for moment in sources],
        content=account,
        quotes=_quotes(told),
        importance=_importance(cluster, me),
        involvedEntityIds=people,
        retainInBuffer=_unresolved(cluster, moments, me),
    )


def _worth_telling(cluster: Cluster) -> list[Moment]:
    """The weightiest moments of a cluster, in order of time."""
    ranked = sorted(cluster.moments, key=lambda moment: -moment.weight)
    heaviest = ranked[0].weight
    chosen = [moment for moment in ranked[:_SENTENCES] if moment.weight >= min(2, heaviest)]
    return [moment for moment in cluster.moments if moment in chosen]


def _account(told: Sequence[Moment], cluster: Cluster, me: str) -> list[str]:
    """Sentences about the chosen moments; a question goes with its answer, and what was not meant for the owner was overheard."""
    lines: list[str] = []
    used: set[str] = set()
    for moment in told:
        if moment.handle in used:
            continue
        answer = _answer_to(moment, cluster.moments)
        if answer is not None:
            used.add(answer.handle)
        text = sentence(moment, answer=answer)
        if moment.mode == "said" and moment.words and me not in moment.people and moment.who:
            text = f"{me} overheard how {text}"
        if text not in lines:
            lines.append(text)
    return lines


def _answer_to(moment: Moment, moments: Sequence[Moment]) -> Moment | None:
    """What the one asked said next to the asker."""
    if moment.mode != "said" or moment.act not in ("question", "request", "ask_name") or not moment.whom:
        return None
    at = next(index for index, other in enumerate(moments) if other is moment)
    for later in moments[at + 1 : at + 4]:
        if later.mode == "said" and later.who in moment.whom and moment.who in later.whom and later.words:
            return later
    return None


def _quotes(told: Sequence[Moment]) -> list[str]:
    """The words worth keeping, shortened to whole sentences."""
    spoken = [moment for moment in told if moment.mode == "said" and moment.words and moment.weight >= _QUOTED_FROM]
    ranked = sorted(spoken, key=lambda moment: -moment.weight)[:_QUOTES]
    return [_shortened(moment.words) for moment in spoken if moment in ranked]


def _shortened(words: str) -> str:
    """As much of a speech from its beginning as makes a good quotation: it stands in the speech as it is."""
    if len(words.split()) <= _LONGEST_QUOTE:
        return words
    end = 0
    for one in sentences(words):
        following = words.find(one, end) + len(one)
        if end and len(words[:following].split()) > _LONGEST_QUOTE:
            break
        end = following
    return words[:end]


def _importance(cluster: Cluster, me: str) -> int:
    """1 to 10: by weight, less for what one only overheard or thought, more for a threat to oneself."""
    heaviest = max(cluster.moments, key=lambda moment: moment.weight)
    concerned = me in heaviest.people
    value = 1 + cluster.weight - (0 if concerned else 1) - (2 if heaviest.mode == "thought" else 0)
    if heaviest.act == "threat":
        value = max(value, 8 if concerned else 6)
    return min(10, max(1, value))


def _unresolved(cluster: Cluster, moments: Sequence[Moment], me: str) -> bool:
    """Whether the thread still hangs: a threat, a promise with a term, a question of weight that was put and not answered."""
    for moment in cluster.moments:
        if moment.mode != "said" or not moment.words or me not in moment.people or moment.old:
            continue
        due = promises(moment.words) and deadline(moment.words)
        asked = moment.act == "question" and moment.weight >= _QUOTED_FROM and moment.recent and me in moment.whom
        if (moment.act == "threat" or due) and cluster.standing and not _settled(moment, moments):
            return True
        if asked and not _answered(moment, moments, me) and len(cluster.moments) <= 3:
            return True
    return False


def _settled(moment: Moment, moments: Sequence[Moment]) -> bool:
    """Whether a later moment between the same people closed the matter."""
    pair = {moment.who, *moment.whom}
    at = next(index for index, other in enumerate(moments) if other is moment)
    for later in moments[at + 1 :]:
        between = len(pair & later.people) >= 2
        if between and later.mode == "done" and _SETTLING_DEED.match(later.deed) and not later.failed:
            return True
        if between and later.mode == "said" and later.act != "threat" and _SETTLED.search(later.words.lower()):
            return True
    return False


def _answered(moment: Moment, moments: Sequence[Moment], me: str) -> bool:
    at = next(index for index, other in enumerate(moments) if other is moment)
    return any(later.mode == "said" and later.who == me and moment.who in later.whom for later in moments[at + 1 :])
