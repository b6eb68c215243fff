"""One moment as a sentence about it: what was asked, told, threatened, promised or done, people by handles."""

import re

from engine.llm.storyteller.actor.topics import frame_free, topic_of
from engine.llm.storyteller.keeping.moments import Moment
from engine.llm.storyteller.keeping.salience import promises, words_weigh
from engine.llm.storyteller.language.text import sentences
from engine.llm.storyteller.language.verbs import reading

_CLAUSE = re.compile(
    r"\b(?:tell me|know|wondering|wonder|hear from you|heard|find out|learn|say|ask(?:ing)?(?: you)?|gently|softly|understand)\b,?\s+"
    r"(?P<clause>(?:who|whom|whose|what|why|where|when|how|whether)\s+(?!do\b|did\b|does\b|can\b|would\b|will\b|is it\b)[^.?!,]{3,90})",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:about|speak of|matter of|hear(?:ing)? of|heard of|tended|understand|when i say) "
    r"(?P<topic>(?:the|a|an|my|your|his|her|that|this)\s[^.?!,]{2,50})", re.IGNORECASE,
)  # fmt: skip
_WANTED = re.compile(
    r"\b(?:give me|hand me|lend me|let me have|i need|i want|may i have|show me|bring me|part with|hand over|i will have|have come for|"
    r"you have|one thing, and it is) (?P<thing>(?:the|your|my|her|his|that)\s[\w' -]{2,40}?)"
    r"(?= for| until| only| by| before| and\b|[.,?!]|$)",
    re.IGNORECASE,
)
_DEADLINE = re.compile(
    r"\b(?:by|before|until|till|at) (?:dawn|morning|evening|noon|midnight|night|nightfall|tomorrow|first light|the (?:hour|end|morning)|"
    r"sunset|sunrise|daybreak|\w+day)\b", re.IGNORECASE,
)  # fmt: skip
_WARNED = re.compile(
    r"\b(?:be careful of|keep away from|warn you about|do not trust|stay clear of|beware of|on account of|mind yourself with|i mean"
    r"|out of the way of|watch out for) (?P<topic>[\w' -]{3,40}?)(?=[.,!?]|$)", re.IGNORECASE,
)  # fmt: skip
_NOT_TOLD = re.compile(r"(?:and|but|or|because|well|then|so|let|do|come|go|take|give|listen|look|say)\b", re.IGNORECASE)
"""How sentences begin that cannot stand after `told that`."""
_LONGEST = 24


def sentence(moment: Moment, *, answer: Moment | None = None) -> str:
    """The moment told, without a full stop at its end. `answer` is what the other one said to it."""
    if moment.mode == "thought":
        return f'{moment.who} thought: "{_first_words(moment.words)}"'
    if moment.mode == "done":
        tail = f", but could not: {moment.failed.rstrip('.')}" if moment.failed and moment.deed.startswith("tried") else ""
        return f"{moment.who} {moment.deed}{tail or (', without success' if moment.failed else '')}"
    if not moment.words:
        return f"{moment.who} whispered something to {_all(moment.whom)}" if moment.who else "somebody was speaking out of earshot"
    told = _speech(moment)
    return f"{told}{_answered(answer)}" if answer is not None else told


def deadline(words: str) -> str:
    """`by dawn`, when words set a term; empty otherwise."""
    match = _DEADLINE.search(words)
    return match.group().lower() if match else ""


def _speech(moment: Moment) -> str:
    who, whom, words = moment.who, _all(moment.whom), moment.words
    to = f" {whom}" if whom else ""
    match moment.act:
        case "introduction":
            return f"{who} gave{to} a name"
        case "threat":
            return f"{who} threatened {whom or 'those present'}{_over(moment)}"
        case "accusation":
            return f"{who} accused {whom or 'somebody'} of lying or hiding something"
        case "warning":
            match = _WARNED.search(words)
            return f"{who} warned{to}" + (f" about {_named(match['topic'], moment)}" if match else "")
        case "request":
            match = _WANTED.search(words)
            return f"{who} asked{to} for {_named(match['thing'], moment)}" if match else f"{who} wanted something of {whom or 'somebody'}"
        case "question" | "ask_name":
            return _question(moment, who, to)
        case "apology":
            return f"{who} said sorry to {whom or 'somebody'}"
    if promises(words):
        term = deadline(words)
        return f"{who} made {whom or 'everybody'} a promise" + (f", to be kept {term}" if term else "")
    told = _told_that(moment)
    return f"{who} told{to or ' those present'} that {told}" if told else f"{who} spoke to {whom}" if whom else f"{who} spoke"


def _question(moment: Moment, who: str, to: str) -> str:
    if moment.act == "ask_name":
        return f"{who} asked{to} for a name"
    match = _CLAUSE.search(moment.words)
    if match:
        return f"{who} asked{to} {_of_others(match['clause'].strip(), moment)}"
    match = _ABOUT.search(moment.words)
    topic = match["topic"] if match else topic_of(moment.words, ())
    if topic:
        return f"{who} asked{to} about {_of_others(topic.strip(), moment)}"
    return f"{who} pressed{to or ' those present'} for an answer"


def _over(moment: Moment) -> str:
    term = deadline(moment.words)
    match = _CLAUSE.search(moment.words)
    about = f" to learn {_of_others(match['clause'].strip(), moment)}" if match else ""
    wanted = _WANTED.search(moment.words)
    thing = f" over {_named(wanted['thing'], moment)}" if wanted and not about else ""
    return f"{about}{thing}" + (f", with time {term}" if term.startswith("until") else f", to be done {term}" if term else "")


def _answered(answer: Moment) -> str:
    """What came back: a refusal, a denial, or something told."""
    who = answer.who
    if answer.act == "refusal":
        return f", and {who} refused"
    told = _told_that(answer) if answer.act in ("statement", "introduction") and answer.weight >= 3 else ""
    if told:
        return f"; {who} said that {told}"
    if answer.act == "threat":
        return f", and {who} answered with a threat"
    if answer.act in ("question", "accusation"):
        return f", and {who} asked back"
    return f", and {who} would not say"


def _told_that(moment: Moment) -> str:
    """The weightiest sentence of a speech as a clause after `that`; empty when nothing in it can be told so."""
    candidates = [one for one in sentences(frame_free(moment.words)) if 4 <= len(one.split()) <= _LONGEST and one[-1:] not in "?!"]
    candidates = [one for one in candidates if not _NOT_TOLD.match(one)]
    if not candidates:
        return ""
    best = max(candidates, key=lambda one: (words_weigh(one), len(one)))
    text = _of_others(best.rstrip(".!…"), moment)
    first = text.split(maxsplit=1)[0]
    keep = re.match(r"P\d+", text) or (len(first) > 1 and not first[1:].islower())
    return text if keep else text[:1].lower() + text[1:]


def _of_others(text: str, moment: Moment) -> str:
    """Speech in the words of a third: `I` becomes the speaker, `you` the one spoken to."""
    me, you = moment.who, moment.whom[0] if moment.whom else "the other"
    pairs = (
        (r"\bI am\b|\bI'm\b", f"{me} was"), (r"\byou are\b|\byou're\b", f"{you} was"), (r"\bI have\b|\bI've\b", f"{me} had"),
        (r"\byou have\b|\byou've\b", f"{you} had"), (r"\bI will\b|\bI'll\b|\bI shall\b", f"{me} would"),
        (r"\byou will\b|\byou'll\b", f"{you} would"), (r"\bI'd\b", f"{me} would"), (r"\byou'd\b", f"{you} would"),
        (r"\byou were\b", f"{you} was"), (r"\bI (?:do not|don't)\b", f"{me} did not"), (r"\byou (?:do not|don't)\b", f"{you} did not"),
        (r"\b[Mm]y\b|\b[Mm]ine\b", f"{me}'s"), (r"\b[Yy]ours?\b", f"{you}'s"), (r"\bmyself\b|\bme\b", me), (r"\byourself\b", you),
        (r"\b(?:we|We)\b", "they"), (r"\bus\b", "them"), (r"\b[Oo]urs?\b", "their"), (r"\bourselves\b", "themselves"),
    )  # fmt: skip
    text = text.replace("\u2019", "'")
    for pattern, instead in pairs:
        text = re.sub(pattern, instead, text)
    text = re.sub(r"\bI\b(?: (\w+))?", lambda match: _conjugated(me, match[1]), text)
    return re.sub(r"\b[Yy]ou\b(?: (\w+))?", lambda match: _conjugated(you, match[1]), text)


def _conjugated(subject: str, word: str | None) -> str:
    if word is None:
        return subject
    present = reading(word, "base")
    past = present and not reading(word, "past") and not present.nounish and word not in ("set", "put", "cut")
    return f"{subject} {present.past if present and past else word}"


def _named(text: str, moment: Moment) -> str:
    return _of_others(text.strip(), moment)


def _first_words(text: str) -> str:
    kept = ""
    for one in sentences(text.replace('"', "'")):
        if kept and len(f"{kept} {one}".split()) > _LONGEST:
            break
        kept = f"{kept} {one}".strip()
    return kept


def _all(handles: tuple[str, ...]) -> str:
    return " and ".join(handles) if len(handles) < 3 else f"{', '.join(handles[:-1])} and {handles[-1]}"
