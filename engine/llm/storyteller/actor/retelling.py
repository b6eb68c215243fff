"""What one remembers, as one would tell it to another: one clause, and never that somebody merely asked."""

import re

from engine.llm.storyteller.language.persons import spoken_of_oneself, to_face
from engine.llm.storyteller.language.text import capital, sentences

_NOBODYS_NEWS = re.compile(
    r"^(?:You|.{2,40}?) (?:asked|pressed|questioned|wondered|wanted to know|thanked|greeted|gave .{2,30} (?:his|her|their|your) name"
    r"|spoke up for|spoke to|talked|spoke|said something|whispered something|claimed|meant to|still wanted|would not say|could not say"
    r"|would rather not say|denied knowing|refused|answered that (?:you|he|she) (?:asked|did not))\b"
    r"|^You (?:turned|glanced|kept|studied|waited|went|moved|closed|shut|opened|touched|trimmed|tried|took a few|gave .{2,40}? a|wrote|ran"
    r"|came|held|thought|were|felt|suspected|feared|threatened|ordered|warned|offered|held it|told|meant|wanted|wondered|hoped|knew|wished"
    r"|doubted|stood|walked|looked|listened|sat|rubbed)\b"
    r"|^(?!You\b).{2,40}? told (?!you\b)"
    r"|^Somebody was speaking",
)
_ANSWERED = re.compile(
    r"; (?P<who>(?!you\b)[^;]{2,40}?) answered that(?:, according to (?P<source>[^,]{2,40}),)? "
    r"(?P<what>(?!it was not|there was no|nobody).{12,})$"
)
_ASKED_WHOM = re.compile(
    r"^.{2,40}? (?:asked|told|pressed|questioned) (?P<whom>.{2,40}?) "
    r"(?:who|whom|whose|what|where|when|why|how|which|whether|about|for|to)\b"
)
_HEARSAY = re.compile(r"^.{2,40}? told you that, according to (?P<source>[^,]{2,40}), (?P<what>.+)$")
_MENACE = re.compile(
    r"^(?P<who>.{2,40}?) (?P<act>threatened|warned|accused) (?P<whom>(?!you\b)(?:the [\w -]+?|[A-Z]\w+(?: [A-Z]\w+)?))(?P<rest>[: ].*)$"
)
_CUT = re.compile(
    r"(?:;|, (?:or|and that|and thought|and the|and nobody|but|because|which|so that|as one)\b|: (?=[a-z])|, and (?=\w+ed\b)).*$"
)
_OWN_TALE = re.compile(r"\b(?:asked|answered)\b")
_PRONOUN_FIRST = re.compile(r"^(?:She|He|They|It|This|That|There|Then)\b")


def retold(memory: str) -> list[str]:
    """The sentences of a memory that are worth telling, each cut to its first clause, in the mouth of the one who remembers."""
    found: list[str] = []
    for sentence in sentences(memory):
        answer = _ANSWERED.search(sentence.rstrip("."))
        if answer:
            if _OWN_TALE.search(answer["what"]):
                continue
            who = answer["source"] or _named(answer["who"], sentence)
            if who:
                found.append(_ended(capital(f"{who} said that {_CUT.sub('', answer['what'])}")))
        elif hearsay := _HEARSAY.match(sentence.rstrip(".")):
            found.append(_ended(capital(f"{hearsay['source']} said that {_CUT.sub('', hearsay['what'])}")))
        elif _NOBODYS_NEWS.search(sentence) or (_PRONOUN_FIRST.match(sentence) and found == [] and memory.index(sentence) > 0):
            continue
        elif not _PRONOUN_FIRST.match(sentence) and (clause := _clause(sentence)):
            found.append(clause)
    return [told for text in found if len((told := spoken_of_oneself(text)).split()) >= 5]


def _named(who: str, sentence: str) -> str:
    """Who answered, by name: `she` is whom the sentence begins with asking. Empty when that is not clear."""
    if who not in ("she", "he"):
        return who
    asked = _ASKED_WHOM.match(sentence)
    return asked["whom"] if asked and asked["whom"] != "you" else ""


def _clause(sentence: str) -> str:
    menace = _MENACE.match(sentence.rstrip("."))
    if menace:
        rest = re.sub(r"^: ", " over ", menace["rest"])
        return f"{_ended(menace['who'] + ' ' + menace['act'] + ' ' + menace['whom'] + _CUT.sub('', rest))} I heard it."
    cut = _CUT.sub("", sentence.rstrip("."))
    return _ended(cut if len(cut.split()) >= 4 else sentence)


def _ended(text: str) -> str:
    text = text.strip(" ,:;")
    return text if text[-1:] in ".!?\u2026" else f"{text}."


def own_act(text: str, listener: str) -> bool:
    """Whether a fact tells its listener nothing but what that one did or said itself."""
    if not listener:
        return False
    face = to_face(text, listener)
    return re.search(r"^You\b(?!r\b)|\b(?:by|from) you\b|\byou (?:asked|answered|said)\b", face) is not None
