"""Questions as they are reported: `Have you a room?` becomes `whether she had a room`, `Who brought her in?` `who had brought her in`."""

import re
from typing import NamedTuple

from engine.llm.stems import STOP_WORDS
from engine.llm.storyteller.handoff.lexicon import word_set
from engine.llm.storyteller.handoff.recasting import MODALS, Recast, clause
from engine.llm.storyteller.handoff.sentence import Grounds, lowered, opened, shortened
from engine.llm.storyteller.handoff.wordforms import reading, readings

WH = r"(?:who|whom|whose|what|which|where|when|why|how|whether|if)"

_PARTING = r"(?:to|for|with|by|at|in|on|of|from|since|until|against) "
_WH_START = re.compile(rf"^(?P<wh>(?:{_PARTING})?(?:who|whom|whose|what|which|where|when|why|how))\b(?P<rest>.*)$", re.IGNORECASE)
_TAG = re.compile(
    r",? (?:do you think|would you say|I wonder|if I may ask(?: it)?|if you please|then|pray|exactly)$|, (?:eh|no|yes|right|hm)$"
    r"|, (?:do|did|is|are|was|were|have|has|had|will|would|can|could|should) (?:not )?(?:I|you|he|she|it|they|we|that|there)(?: not)?$",
    re.IGNORECASE,
)
_AND_ANOTHER = re.compile(r", (?:and|but|so|or) (?:I|they|he|she|it|you|we|nobody|somebody)\b.*$", re.IGNORECASE)
_HYPOTHETIC = re.compile(r"^(?P<if>[Ii]f [^,]+), (?P<question>.+)$")
_AUXILIARIES = MODALS | {"am", "is", "are", "was", "were", "do", "does", "did", "have", "has", "had", "cannot"}
_BE = frozenset(("am", "is", "are", "was", "were"))
_ENDS_SUBJECT = frozenset(("a", "an", "the", "not", "still", "really", "so", "too"))


class _Split(NamedTuple):
    """A clause taken apart: auxiliary, subject, rest."""

    auxiliary: str
    subject: str
    rest: str


def indirect(question: str, grounds: Grounds, *, longest: int = 26) -> str:
    """A question as a clause after `asked`; empty when it cannot be recast safely."""
    text = _TAG.sub("", opened(question)).strip(" ,")
    hypothetic = _HYPOTHETIC.match(text)
    if hypothetic:
        asked, condition = indirect(hypothetic["question"], grounds), clause(hypothetic["if"], grounds)
        return shortened(f"{asked}, {condition}", longest + 6) if asked and condition else ""
    match = _WH_START.match(text)
    told = _about(match["wh"].lower(), match["rest"].strip(), grounds) if match else _whether(text, grounds)
    return shortened(told, longest) if told else ""


def embedded(text: str, grounds: Grounds, *, longest: int = 26) -> str:
    """A question that is part of a sentence, `who put out the lantern`, in reported speech; empty when that is not safe."""
    text = _AND_ANOTHER.sub("", opened(text))
    match = re.match(r"^(?:whether|if) (.+)$", text, re.IGNORECASE)
    if match:
        told = clause(match[1], grounds)
        return shortened(f"whether {told}", longest) if told else ""
    return indirect(text, grounds, longest=longest)


def _words(heading: str) -> frozenset[str]:
    return word_set("grammar", heading)


def _whether(text: str, grounds: Grounds) -> str:
    words = text.split()
    if not words:
        return ""
    if words[0].lower() in _AUXILIARIES:
        split = _inverted(words)
        told = _stated(split, grounds) if split else ""
        return f"whether {told}" if told else ""
    told = clause(text, grounds)
    return f"whether {told}" if told and words[0].lower() not in ("if", "when", "because", "that") else ""


def _about(wh: str, rest: str, grounds: Grounds) -> str:
    """A question that begins with `who`, `what` and the like."""
    words = rest.split()
    head: list[str] = [wh]
    while words and (not _verbal(words, wh) or (head == ["whose"] and words[0].lower() not in _AUXILIARIES)):
        if not words[0].replace("'", "").isalpha() or words[0].lower() in _words("prepositions") or len(head) > 4:
            break
        head.append(words.pop(0))
    if not words:
        return ""
    start = " ".join(head)
    if words[0].lower() in _AUXILIARIES and not _is_own_subject(words, start):
        split = _inverted(words, wh)
        told = _stated(split, grounds) if split else ""
        return f"{_recast_head(start, grounds)} {told}" if told else ""
    return _subject_question(start, words, grounds)


def _recast_head(head: str, grounds: Grounds) -> str:
    return Recast(head, grounds).text() or head


def _verbal(words: list[str], wh: str) -> bool:
    """Whether a question's verb, or its subject, begins here."""
    word = words[0].lower()
    if word in _AUXILIARIES or word in _words("question_subjects") or word in _words("determiners") or word in ("not", "never"):
        return True
    if wh.startswith("how") and word in _words("measures"):
        return False
    verb = reading(word, "third", "past")
    return verb is not None and not verb.nounish


def _is_own_subject(words: list[str], wh: str) -> bool:
    """Whether the question word is the subject itself: `who has the key`, `what is in the cellar`, `whose fingers were on it`."""
    auxiliary, following = words[0].lower(), words[1].lower() if len(words) > 1 else ""
    if following in ("not", "never", "ever", "always", "still", "really", "already") and len(words) > 2:
        following = words[2].lower()
    if wh.split()[-1] in ("where", "when", "why", "how", "whom"):
        return False
    if following in _words("question_subjects") - {"there"} or (following == "there" and len(words) > 2):
        return False
    starts_noun = following in _words("determiners") or words[1 : 2] != [following]
    if auxiliary in ("have", "has", "had") and starts_noun:
        return not any(reading(word, "participle") and not reading(word, "base") for word in words[3:6])
    return not starts_noun


def _subject_question(head: str, words: list[str], grounds: Grounds) -> str:
    """`who brought her in`: a plain past becomes a past perfect."""
    first = words[0].lower()
    forms = {form for _, form in readings(first)}
    verb = reading(first, "past")
    if verb is not None and "third" not in forms and first not in _AUXILIARIES:
        words = ["had", verb.participle, *words[1:]]
    recast = Recast(" ".join(words), grounds, before="who")
    told = recast.text()
    return f"{_recast_head(head, grounds)} {told}" if told and recast.finite else ""


def _inverted(words: list[str], wh: str = "") -> _Split | None:
    """`did you see my boy` taken apart."""
    auxiliary, rest = words[0].lower(), words[1:]
    negated = bool(rest) and rest[0].lower() == "not"
    if negated:
        rest = rest[1:]
    size = _subject_size(auxiliary, rest, wh)
    if not size:
        return None
    subject, remaining = rest[:size], rest[size:]
    if remaining[:1] == ["not"]:
        negated, remaining = True, remaining[1:]
    if negated:
        remaining = ["not", *remaining]
    return _Split(auxiliary, " ".join(subject), " ".join(remaining))


def _subject_size(auxiliary: str, rest: list[str], wh: str) -> int:
    """How many words the subject of an inverted clause has; 0 when that is not clear."""
    if not rest:
        return 0
    first = rest[0].lower()
    if first in _words("question_subjects") and not (first in ("this", "that", "these", "those") and len(rest) > 1 and _is_noun(rest[1])):
        return 1
    if first not in _words("determiners") and not rest[0][0].isupper():
        return 0
    start = 1
    if rest[0][0].isupper() and first not in _words("determiners"):
        while start < len(rest) and (rest[start][0].isupper() or rest[start] in ("de", "van", "von", "of")):
            start += 1
        return start
    if auxiliary in _BE and wh in ("who", "what", "where", "how"):
        return _up_to_participle(rest)
    if auxiliary in _BE:
        return _copula_split(rest)
    for index in range(2, len(rest)):
        word = rest[index].lower()
        verb = reading(word, "participle") if auxiliary in ("have", "has", "had") else reading(word, "base")
        if word in ("be", "have", "been", "had") or (verb is not None and not verb.nounish):
            return index - 1 if rest[index - 1].lower() in word_set("grammar", "adverbs") else index
    return 0


def _up_to_participle(rest: list[str]) -> int:
    for index in range(2, len(rest)):
        verb = reading(rest[index], "participle", "gerund")
        if verb is not None and not verb.nounish:
            return index
    return len(rest)


def _copula_split(rest: list[str]) -> int:
    """`the door | locked`: before a participle, preposition or article, else after the second word."""
    for index in range(2, len(rest)):
        word = rest[index].lower()
        verb = reading(word, "participle", "gerund")
        if (verb is not None and not verb.nounish) or word in _words("prepositions") - {"of"} or word in _ENDS_SUBJECT:
            return index
        if word == "of":
            return 0
    return 2 if len(rest) > 2 else 0


def _is_noun(word: str) -> bool:
    return word.lower() not in STOP_WORDS and reading(word, "base", "past", "gerund") is None


def _stated(split: _Split, grounds: Grounds) -> str:
    """The clause in the order of a statement, recast."""
    auxiliary, subject, rest = split
    words = rest.split()
    if auxiliary in ("do", "does", "did"):
        words = _without_do(auxiliary, subject, words)
    else:
        words = [auxiliary, *words] if auxiliary != "cannot" else ["could", "not", *words]
    recast = Recast(" ".join([subject, *words]), grounds)
    told = recast.text()
    if not told or not recast.finite:
        return ""
    return lowered(told, subject, grounds) if subject.split()[0] in ("The", "This", "That", "These", "Those") else told


def _without_do(auxiliary: str, subject: str, words: list[str]) -> list[str]:
    """The verb in the form that the dropped `do` or `did` asked for."""
    if "not" in words[:1]:
        return ["did", *words]
    for index, word in enumerate(words[:3]):
        verb = reading(word, "base")
        if word.lower() in ("have", "be") or verb is not None:
            if auxiliary == "did":
                participle = {"have": "had", "be": "been"}.get(word.lower()) or (verb.participle if verb else word)
                return ["had", *words[:index], participle, *words[index + 1 :]]
            past = {"have": "had", "be": "was"}.get(word.lower()) or (verb.past if verb else word)
            return [*words[:index], past, *words[index + 1 :]]
    return [auxiliary, *words]
