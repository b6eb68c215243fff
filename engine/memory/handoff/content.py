"""Whether a model's account of a moment can be kept, and the account as it is kept: entities by reference tokens only."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from engine.mind.aliases import tokenize
from engine.mind.handles import Handles
from engine.records.base import EntityId
from engine.records.clean import one_line
from engine.records.tokens import substitute, token

_LONGEST = 2000
_SHORTEST_ECHO = 16
"""Characters of an account that, standing in the instructions, make it an echo of them."""
_SOMEBODY = "somebody"

_QUOTED = re.compile(
    "\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u00ab[^\u00bb]*\u00bb|(?<!\\w)'.+?'(?!\\w)|(?<!\\w)\u2018.+?\u2019(?!\\w)"
)
_FIRST_PERSON = re.compile(
    "(?<![\\w.])I(?=['\u2019](?:m|d|ve|ll)\\b|\\s+[a-z])|\\b(?:[Mm]y|[Mm]e|[Mm]yself|[Ww]e|us|[Oo]urs?|[Oo]urselves)\\b"
)
_SPOKEN = re.compile(r"[^\W\d_]{2}")
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself|yourselves)\b", re.IGNORECASE)
_SCHEMA = re.compile(
    r"sourceEntryIds|involvedEntityIds|retainInBuffer|\"(?:chunks|content|properties|type|\$ref)\"\s*:|\$defs|LedgerEntry"
    r"|\[(?:said|done|thought)(?:, (?:pinned|\d+))?\]"
)
_PLACEHOLDERS = frozenset({"string", "content", "text", "summary", "third person summary", "what happened", "none", "n a", "null"})
_REFUSAL = re.compile(
    r"\b(?:as an? (?:ai|artificial|language model|assistant|large)\b|(?:sorry|apologi[sz]e),? (?:but )?(?:i|we|this|that)\b"
    r"|language model\b|unable to (?:assist|help|comply|summari[sz]e|process|provide|fulfil)"
    r"|(?:cannot|can't|can not|won't) (?:assist|comply|help with|fulfil|provide (?:a|any|this|that)|process this|summari[sz]e))",
    re.IGNORECASE,
)
_ENTRY_LIST = re.compile(r"\s*[(\[]\s*M\d+(?:(?:\s|,|;|and|to|-|\u2013)+M\d+)*\s*[)\]]")
_ENTRY = re.compile(r"(?<!\w)M\d+(?!\w)")
_PERSON = re.compile(r"(?<!\w)\[?P\d+\]?(?!\w)")
_ROW_ID = re.compile(r"(?<!\w)(?:buf|led|run)-\d+(?!\w)")
_TOKEN = re.compile(r"(\{\{e:[A-Za-z0-9_.-]+\}\})")


class Account(NamedTuple):
    """A checked account. `fault` says why it cannot be kept; then `text` is empty."""

    text: str
    fault: str = ""


def checked(
    raw: str, handles: Handles, names: Mapping[str, EntityId], known: Collection[EntityId], ids: Collection[EntityId], template: str
) -> Account:
    """The account as it is kept, or the fault that forbids keeping it (DESIGN 7).

    `names` are the owner's aliases in the prompt, `known` the entities the prompt spoke of, `ids` all ids of the world:
    none of them may stay in the text. `template` is the prompt's fixed text: a model that copies its example has read nothing.
    """
    text = _ENTRY_LIST.sub("", one_line(raw))
    fault = _unfit(text, template)
    if fault:
        return Account("", fault)
    text = handles.tokens(substitute(text, lambda entity: token(entity) if entity in known else _SOMEBODY))
    text = outside_quotes(text, lambda part: without_ids(tokenize(part, names), known, ids))
    text = _PERSON.sub(_SOMEBODY, text)
    told = _QUOTED.sub(" ", substitute(text, lambda _: " "))
    if not _SPOKEN.search(told):
        return Account("", "it says nothing")
    if _FIRST_PERSON.search(told):
        return Account("", "it is told in the first person")
    if _SECOND_PERSON.search(told):
        return Account("", "it is told to somebody")
    if _ENTRY.search(text) or _ROW_ID.search(text):
        return Account("", "it speaks of entries by their handles")
    return Account(text)


def _unfit(text: str, template: str) -> str:
    words = _words(text)
    if not words:
        return "it is blank"
    if len(text) > _LONGEST:
        return f"it is longer than {_LONGEST} characters"
    if words in _PLACEHOLDERS or _SCHEMA.search(text):
        return "it repeats the form instead of filling it"
    if len(words) >= _SHORTEST_ECHO and f" {words} " in _fixed(template):
        return "it repeats the instructions"
    if _REFUSAL.search(_QUOTED.sub(" ", text)):
        return "it is a refusal"
    return ""


def _words(text: str) -> str:
    """The words of a text as they are compared with the instructions: an example stays one with its handles changed."""
    return " ".join(re.findall(r"\w+", _PERSON.sub("P", text).casefold()))


@lru_cache(maxsize=8)
def _fixed(template: str) -> str:
    """The words of the instructions, between spaces. All accounts are compared with them."""
    return f" {_words(template)} "


def outside_quotes(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` between quotations: speech stays verbatim and has no tokens of its own."""
    parts, last = [], 0
    for found in _QUOTED.finditer(text):
        parts += [change(text[last : found.start()]), found.group()]
        last = found.end()
    return "".join([*parts, change(text[last:])])


def without_ids(text: str, known: Collection[EntityId], ids: Collection[EntityId]) -> str:
    """Ids that cannot be ordinary words (they hold a digit, a dot, an underscore or a hyphen) become tokens or `somebody`."""
    odd = [entity for entity in ids if not entity.isalpha() and entity in text]
    if not odd:
        return text
    pattern = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, sorted(odd, key=len, reverse=True))) + r")(?![\w-])")
    parts = _TOKEN.split(text)
    for index in range(0, len(parts), 2):  # odd places hold tokens, which stay
        parts[index] = pattern.sub(lambda found: token(found.group()) if found.group() in known else _SOMEBODY, parts[index])
    return "".join(parts)
