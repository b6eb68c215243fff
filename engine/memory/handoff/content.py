"""Whether a model's account of a moment can be kept, and the account as it is kept: entities by reference tokens only."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from engine.memory.handoff.spans import QUOTED, Said, Settled, settled
from engine.memory.ids import first_id, replace_ids, spelt, with_plain_tokens
from engine.memory.wording import content as stems
from engine.mind.aliases import tokenize
from engine.mind.handles import Handles
from engine.mind.render import capital
from engine.mind.unheard import without_unheard
from engine.records.base import EntityId
from engine.records.clean import one_line
from engine.records.tokens import referred, substitute, token
from engine.records.world import World

_LONGEST = 2000
_SHORTEST_ECHO = 16
"""Characters of an account that, standing in the instructions, make it an echo of them."""
_SOMEBODY, _SOMEWHERE, _SOMETHING = "somebody", "somewhere", "something"
_UNNAMED = "somebody someone anybody nobody everybody somewhere something he she they him her them it"
"""Words that say of nobody in particular that there was one."""
_LITTLE = 2
"""Content words outside of its quotations from which an account says something without them."""
_SPEECH = 4
"""Words from which a quotation is a speech, rather than a word or a title set apart."""

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
_OUTCOME = re.compile(r"\s*\(Outcome: [^()]*\)")
"""How a prompt marks what came of a deed."""
_PERSON = re.compile(r"(?<!\w)\[?P\d+\]?(?!\w)")
_ROW_ID = re.compile(r"(?<!\w)(?:buf|led|run|prop)-\d+(?!\w)", re.IGNORECASE)


class Account(NamedTuple):
    """A checked account. `fault` says why it cannot be kept; then `text` is empty."""

    text: str
    fault: str = ""
    unsaid: tuple[str, ...] = ()
    """What the account quoted and nobody said."""
    notes: tuple[str, ...] = ()
    """What was done about that, for people."""


class Ground(NamedTuple):
    """What an account is held against: everything its prompt was made of."""

    world: World
    owner: EntityId
    handles: Handles
    names: Mapping[str, EntityId]
    """The owner's names for others and for itself."""
    known: Collection[EntityId]
    """Whom the prompt spoke of."""
    template: str
    """The prompt's fixed text: a model that copies its example has read nothing."""
    heard: str = ""
    """The rest of the prompt: a name that stands there is known to the owner."""


def checked(raw: str, ground: Ground, said: Said) -> Account:
    """The account as it is kept, or the fault that forbids keeping it (DESIGN 7).

    No id and no name that the owner has not heard stays in it. In quotation marks only `said` stays: what nobody said loses its
    marks, or is left out where it cannot be told. Speech is verbatim and has no tokens.
    """
    text = _OUTCOME.sub("", _ENTRY_LIST.sub("", one_line(raw)))
    fault = _unfit(text, ground.template)
    if fault:
        return Account("", fault)
    looked = settled(
        with_plain_tokens(text, ground.world.entities), lambda words: _spoken(words, ground, said), lambda words: not _in_person(words)
    )
    # The first letter is read as a capital: that of a name in small letters, too.
    telling = [piece.text if at else capital(piece.text.lstrip()) for at, piece in enumerate(looked.pieces)]
    parts = [each if piece.spoken else _telling(each, ground) for piece, each in zip(looked.pieces, telling, strict=True)]
    told = substitute(" ".join(part for piece, part in zip(looked.pieces, parts, strict=True) if not piece.spoken), lambda _: " ")
    text = " ".join("".join(parts).split())
    fault = _untold(told, text) or _hollow(looked, ground)
    return Account("" if fault else text, fault, looked.unsaid, looked.notes)


def _untold(told: str, text: str) -> str:
    """Why an account is none: `told` is what it says outside of quotations."""
    if not _SPOKEN.search(told):
        return "it says nothing"
    if _FIRST_PERSON.search(told):
        return "it is told in the first person"
    if _SECOND_PERSON.search(told):
        return "it is told to somebody"
    if _ENTRY.search(text) or _ROW_ID.search(text):
        return "it speaks of entries by their handles"
    return ""


def _hollow(looked: Settled, ground: Ground) -> str:
    """Why an account is none that quotes what nobody said: without that it says next to nothing."""
    if not any(len(words.split()) >= _SPEECH for words in looked.unsaid):
        return ""
    left = stems(_telling(looked.outside, ground)) - stems(_UNNAMED)
    return "it says little but what nobody said" if len(left) < _LITTLE else ""


def _telling(text: str, ground: Ground) -> str:
    """Text outside of quotations, as it is kept."""
    world, known = ground.world, ground.known

    def meant(entity: EntityId) -> str:
        return token(entity) if entity in known else _SOMEBODY

    text = tokenize(ground.handles.tokens(substitute(text, meant)), ground.names)
    text = without_unheard(text, world, ground.owner, ground.heard, meant)
    text = replace_ids(text, world.entities, lambda found: meant(spelt(found, world.entities)))
    text = replace_ids(replace_ids(text, world.places, lambda _: _SOMEWHERE), world.portals, lambda _: _SOMETHING)
    return _PERSON.sub(_SOMEBODY, text)


def _spoken(words: str, ground: Ground, said: Said) -> str | None:
    """The words of a quotation as they are kept, None when nobody spoke them. Handles, tokens and ids in it are taken for names."""
    plain = _named(words, ground)
    for each in (words, plain):
        if said.has(each) and not referred(each) and not _ids_in(each, ground.world):
            return each
    return None


def _named(words: str, ground: Ground) -> str:
    """A quotation with names in the place of handles, tokens and ids, as the owner knows them."""
    called: dict[EntityId, str] = {}
    for name, entity in ground.names.items():
        called.setdefault(entity, name)
    text = replace_ids(ground.handles.tokens(words), ground.world.entities, lambda found: token(spelt(found, ground.world.entities) or "-"))
    return _PERSON.sub(_SOMEBODY, substitute(text, lambda entity: called.get(entity, _SOMEBODY)))


def _ids_in(text: str, world: World) -> bool:
    return any(first_id(text, ids) for ids in (world.entities, world.places, world.portals))


def _in_person(text: str) -> bool:
    return _FIRST_PERSON.search(text) is not None or _SECOND_PERSON.search(text) is not None


def in_first_person(text: str) -> bool:
    """Whether a text speaks of who tells it as `I` or `we`, quotations aside."""
    return _FIRST_PERSON.search(_unquoted(text)) is not None


def _unquoted(text: str) -> str:
    """A text without quotations and reference tokens."""
    return QUOTED.sub(" ", substitute(text, lambda _: " "))


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
    if _REFUSAL.search(QUOTED.sub(" ", text)):
        return "it is a refusal"
    return ""


def _words(text: str) -> str:
    """The words of a text as they are compared with the instructions: an example stays one with its handles changed."""
    return " ".join(re.findall(r"\w+", _PERSON.sub("P", text).casefold()))


@lru_cache(maxsize=8)
def _fixed(template: str) -> str:
    """The words of the instructions, between spaces. All accounts are compared with them."""
    return f" {_words(template)} "
