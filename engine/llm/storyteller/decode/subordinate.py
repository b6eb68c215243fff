"""Clauses beside a deed in which its doer is the subject again: recast without it, or left out."""

import re

from engine.llm.storyteller.decode.clauses import Person
from engine.llm.storyteller.language.verbs import reading

_AS_STATE = re.compile(r"\bas (?:if|though) I (?:were|was) (?!to\b)")
_NEED = re.compile(r"\bthan I (?:need|needed|have|had|must|ought)(?: to)?\b(?:(?! and | but )[^,;])*")
_WHILE = re.compile(r"\b(while|before|after|when|as) I (\w+)")
_SO_THAT = re.compile(r"\bso (?:that )?I (?:can |could |may |might |will )?(\w+)")
_WHAT = re.compile(r"\b(what|where|how|why|who|whom|whether|that|which|all) I (\w+)\b")
_DROPPED = re.compile(
    r",?\s*(?:\b(?:more|less|further|longer|harder|faster|better) )?"
    r"\b(?:before|after|until|till|while|because|since|though|although|if|unless|as if|as though|as|so that|so|when|whenever|where|wherever"
    r"|for what|for all that|than|for|in case|lest|that|which|whom|whose|what|how|why|whether|to the \w+ that) "
    r"(?:(?!\b(?:before|after|until|till|while|because|since|though|if|unless|than|so that|when|as if|that|what|how) )[^,;])*?"
    r"\b(?:I|me|my|mine|myself)\b[^,;]*"
)
_REFLEXIVE = re.compile(
    r"\s*\b(?:(?:at|to|on|over|round|around|about|upon|towards?|behind|beside|before|from|with|under|against|near|in front of|for) )?"
    r"(?:me|mine|myself)\b"
)
_OTHERS_VERB = re.compile(
    r"\b((?:she|he|it|they|who|nobody|somebody|everybody|everyone|anybody|no one|there|P\d+"
    r"|that(?! (?:P\d|she\b|he\b|it\b|they\b|\w+body\b|everyone\b|no one\b|there\b|the\b)))) (\w+)\b(?! of\b)"
)
_HANGING = re.compile(r",?\s+(?:before|after|while|without) (?:knowing|realising|realizing|noticing|thinking|seeing|meaning)(?: it| to)?$")
_LINKING = frozenset(("who", "that"))


def without_doer(text: str, person: Person) -> str:
    """A past deed with no `I`, `me` or `myself` left in what goes with it, and in one tense."""
    text = re.sub(r"\b(?:to|by) (?:myself|herself|himself|themselves)\b", "alone", text)
    text = re.sub(r"\b(?:myself|herself|himself) (?=a |an |some |the )", "", text)
    if person == "third":
        text = re.sub(r"\s*\b(?:at |to |on |over )?(?:herself|himself)\b", "", text)
    text = _AS_STATE.sub("as if ", text)
    text = _NEED.sub("than need be", text)
    text = _WHILE.sub(_gerund, text)
    text = _SO_THAT.sub(_infinitive, text)
    text = _WHAT.sub(_past_of_doer, text)
    text = _dropped(text)
    text = _REFLEXIVE.sub("", text)
    text = re.sub(r",?\s*(?:\band |\bbut )?\bI(?:['\u2019]\w+)?\b[^,;]*", "", text)
    return _in_the_past(_HANGING.sub("", text))


def _gerund(match: re.Match[str]) -> str:
    lead = "while" if match[1] in ("as", "when") else match[1]
    verb = reading(match[2], "base", "past")
    return f"{lead} {verb.gerund}" if verb and verb.base != "be" else match.group()


def _infinitive(match: re.Match[str]) -> str:
    verb = reading(match[1], "base")
    return f"so as to {verb.base}" if verb and verb.base != "be" else match.group()


def _past_of_doer(match: re.Match[str]) -> str:
    """`what I know` as `what P1 knew`: right for `you` and for a name alike."""
    if match[1] in ("that", "which", "all"):
        return match.group()
    if match[2] in ("can", "will", "may"):
        return f"{match[1]} P1 {({'can': 'could', 'will': 'would', 'may': 'might'})[match[2]]}"
    verb = reading(match[2], "base", "past")
    return f"{match[1]} P1 {verb.past}" if verb and verb.base != "be" else match.group()


def _dropped(text: str) -> str:
    for _ in range(3):
        shorter = _DROPPED.sub("", text, count=1)
        if shorter == text or not shorter.strip():
            return text
        text = shorter
    return text


def _in_the_past(text: str) -> str:
    """`until she looks up` becomes `until she looked up`, `every word that he says` `every word that he said`."""
    return re.sub(_OTHERS_VERB, _past_after, text)





def _past_after(match: re.Match[str]) -> str:
    word = match[2]
    if word in ("is", "are"):
        return f"{match[1]} {'was' if word == 'is' else 'were'}"
    modals = {"can": "could", "will": "would", "may": "might", "has": "had", "does": "did"}
    if word in modals:
        return f"{match[1]} {modals[word]}"
    verb = reading(word, "third")
    if verb is None and match[1] == "they":
        verb = reading(word, "base")
    return f"{match[1]} {verb.past}" if verb and not (verb.nounish and match[1] not in _LINKING) else match.group()
