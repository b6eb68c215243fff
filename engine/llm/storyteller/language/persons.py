"""Grammatical person: what is written of somebody, as that one would say it, or as one would say it to its face."""

import re

from engine.llm.storyteller.language.verbs import from_third, reading, verb

_VERBISH = ("was", "were", "are", "have", "had", "did", "do", "will", "would", "could", "can", "must", "should", "never", "also", "once")
_OBJECT_BEFORE = frozenset(("to", "for", "with", "at", "from", "by", "on", "of", "in", "beside", "behind", "before"))
_NOT_VERBS = frozenset(("always", "perhaps", "sometimes", "besides", "thus", "as", "his", "its", "this", "towards", "afterwards", "ours"))
_HER_BACK = re.compile(r"\b(with|turns?|turned|against|on|behind|of) (?:her|him|his) back\b")
_FIRST_FORMS = {
    "is": "am", "was": "was", "has": "have", "does": "do", "are": "am", "were": "was", "isn't": "am not", "doesn't": "don't",
    "hasn't": "haven't",
}  # fmt: skip
_FEMININE = re.compile(r"\b(?:she|her|hers|herself|woman|girl|lady|mother|sister|daughter|wife|widow|queen)\b", re.IGNORECASE)
_MASCULINE = re.compile(r"\b(?:he|him|his|himself|man|boy|lord|father|brother|son|husband|king)\b", re.IGNORECASE)
_NOT_POSSESSED = re.compile(
    r"^(?:$|[,.;:!?]|(?:to|with|in|on|at|from|by|for|and|as|into|out|up|down|over|back|away|that|who|when|if|the|a|an|some|it|was|is|had|not|off)\b)"
)


def gender_of(text: str) -> str:
    """`she`, `he` or `they`, by the first word in a text that tells."""
    feminine, masculine = _FEMININE.search(text), _MASCULINE.search(text)
    if feminine and (masculine is None or feminine.start() < masculine.start()):
        return "she"
    return "he" if masculine else "they"


def spoken_of_oneself(text: str) -> str:
    """A memory told to its owner, `You gave her the rope`, as the owner would say it: `I gave her the rope`."""
    text = re.sub(r"\b(?:You|you) are\b", "I am", text)
    text = re.sub(r"\b(?:You|you) were\b", "I was", text)
    text = re.sub(r"\b(?:Your|your)\b", lambda match: "My" if match.group()[0] == "Y" else "my", text)
    text = re.sub(r"\byours\b", "mine", text)
    text = re.sub(r"\byourself\b", "myself", text)
    return re.sub(r"\b([Yy])ou\b(?P<after>\s+[\w'\u2019-]+)?", _you, text)


def _you(match: re.Match[str]) -> str:
    after = match["after"] or ""
    following = after.strip().lower()
    before = match.string[: match.start()].rstrip()
    opens = match[1] == "Y" or before.endswith((",", ";", ":", " and", " that", " but", " when", " what", " where", " who", " as"))
    previous = before.rsplit(maxsplit=1)[-1].lower() if before else ""
    object_place = previous in _OBJECT_BEFORE or reading(previous, "past", "base", "third", "gerund") is not None
    verbal = following in _VERBISH or reading(following, "past") is not None
    if verbal and (opens or following in _VERBISH or not object_place):
        return f"I{after}"
    return f"{'I' if match[1] == 'Y' else 'me'}{after}"


def confessed(text: str, gender: str) -> str:
    """What is written about a character, `She owes him forty crowns`, as a confession: `I owe him forty crowns`."""
    subject, possessive, objective, reflexive = {
        "she": ("she", "her", "her", "herself"), "he": ("he", "his", "him", "himself"), "they": ("they", "their", "them", "themselves"),
    }[gender]  # fmt: skip
    text = re.sub(rf"\b{reflexive}\b", "myself", text, flags=re.IGNORECASE)
    text = _HER_BACK.sub(r"\1 my back", text)
    subject_verb = rf"\b({subject})\b((?: (?:never|also|still|only|once|now|always|already))?)(?: ([\w'\u2019-]+))?"
    if re.match(rf"{subject}\b", text, re.IGNORECASE):
        text = re.sub(r"\band is\b", "and am", text)
        text = re.sub(r"\band has\b", "and have", text)
    text = re.sub(subject_verb, _first, text, flags=re.IGNORECASE)
    if possessive == objective:
        text = re.sub(rf"\b{possessive}\b(?=(.*))", lambda match: "me" if _NOT_POSSESSED.match(match[1].strip()) else "my", text)
        return re.sub(rf"\b{possessive.capitalize()}\b", "My", text)
    text = re.sub(rf"\b{possessive}\b", "my", text)
    text = re.sub(rf"\b{possessive.capitalize()}\b", "My", text)
    return re.sub(rf"\b{objective}\b", "me", text)


def _first(match: re.Match[str]) -> str:
    adverb, word = match[2] or "", match[3]
    if word is None:
        return f"I{adverb}"
    if word.lower() in _FIRST_FORMS:
        return f"I{adverb} {_FIRST_FORMS[word.lower()]}"
    if word.endswith("s") and not word.endswith(("ss", "us")) and word.lower() not in _NOT_VERBS and not reading(word, "past"):
        return f"I{adverb} {from_third(word).base}"
    return f"I{adverb} {word}"


def to_face(text: str, name: str) -> str:
    """A text that names somebody, as said to that one: `the innkeeper was out` gives `you were out`."""
    if not name:
        return text
    text = re.sub(rf"(?<!\w){re.escape(name)}['\u2019]s\b", "your", text, flags=re.IGNORECASE)
    text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)(?: ([\w'\u2019-]+))?", _second, text, flags=re.IGNORECASE)
    return re.sub(r"(^|[.!?\u2026] )you(?=r?\b)", r"\1You", text)


def _second(match: re.Match[str]) -> str:
    start = "You" if match.group()[0].isupper() and match.start() == 0 else "you"
    word = match[1]
    if word is None:
        return start
    known = {"is": "are", "was": "were", "has": "have", "does": "do"}
    present = reading(word, "third")
    plain = known.get(word.lower()) or (present.base if present and not present.nounish and not reading(word, "past") else word)
    return f"{start} {plain}"


def clause_to_face(clause: str) -> str:
    """`why she was in the loft` as asked of that one: `why you were in the loft`. One-person pronouns mean the one asked."""
    subject_verb = r"\b(?:she|he)\b((?: (?:never|also|still|only|once|now|ever|always))?) ([\w'\u2019-]+)"
    clause = re.sub(subject_verb, _second_clause, clause)
    clause = re.sub(r"\b(?:himself|herself)\b", "yourself", clause)
    clause = re.sub(r"\bhis\b", "your", clause)
    clause = re.sub(r"\bhim\b", "you", clause)
    return re.sub(r"\bher\b(?=(.*))", lambda match: "you" if _NOT_POSSESSED.match(match[1].strip()) else "your", clause)


def _second_clause(match: re.Match[str]) -> str:
    word = match[2]
    known = {"is": "are", "was": "were", "has": "have", "does": "do"}
    present = reading(word, "third")
    return f"you{match[1]} {known.get(word) or (present.base if present and not reading(word, 'past') else word)}"


def habit_of_oneself(habit: str, gender: str) -> str:
    """`wipes her hands when nobody speaks` as a deed of one's own: `wipe my hands`."""
    words = habit.strip().rstrip(".").split()
    if not words:
        return ""
    first = reading(words[0], "third")
    words[0] = first.base if first else verb(words[0].removesuffix("s")).base if words[0].endswith("s") else words[0]
    text = " ".join(words)
    text = re.sub(r"\s+(?:when|while|whenever|if)\s+(?:nobody|no one|alone|idle|nothing|there is nothing|it is quiet)\b.*$", "", text)
    text = re.sub(r"\b(and|then|or|but) ([a-z]+)\b", _also, text)
    return confessed(text, gender) if gender != "they" else confessed(confessed(text, "she"), "he")


def _also(match: re.Match[str]) -> str:
    verb_found = reading(match[2], "third")
    return f"{match[1]} {verb_found.base}" if verb_found and not verb_found.nounish else match.group()
