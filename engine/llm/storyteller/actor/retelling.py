"""What one remembers, as one would tell it to another: one clause, and never that somebody merely asked."""

import re

from engine.llm.storyteller.language.persons import spoken_of_oneself, to_face
from engine.llm.storyteller.language.text import capital, sentences

_NOBODYS_NEWS = re.compile(
    r"^(?:You|.{2,40}?) (?:asked|pressed|questioned|wondered|wanted to know|thanked|greeted|gave .{2,30} (?:his|her|their|your) name"
    r"|spoke up for|spoke to|talked|spoke|said something|whispered something|claimed|meant to|still wanted|would not say|could not say"
    r"|would rather not say|denied knowing|refused|answered that (?:you|he|she) (?:asked|did not))\b"
    r"|^You (?:thought|were|felt|suspected|feared|threatened|ordered|warned|offered|held it|told|meant|wanted|wondered|hoped|knew|wished"
    r"|doubted|stood|walked|looked|listened|sat|rubbed)\b"
    r"|^(?!You\b).{2,40}? told (?!you\b)"
    r"|^Somebody was speaking",
)
_ANSWERED = re.compile(r"; (?P<who>(?!you\b)[^;]{2,40}?) answered that (?P<what>(?!it was not|there was no|nobody).{12,})$")
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
            found.append(_ended(capital(f"{answer['who']} said that {_CUT.sub('', answer['what'])}")))
        elif _NOBODYS_NEWS.search(sentence) or (_PRONOUN_FIRST.match(sentence) and found == [] and memory.index(sentence) > 0):
            continue
        elif not _PRONOUN_FIRST.match(sentence) and (clause := _clause(sentence)):
            found.append(clause)
    return [told for text in found if len((told := spoken_of_oneself(text)).split()) >= 5]


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
