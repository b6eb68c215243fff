"""Sentences and small surgery on running text."""

import re

_SENTENCE = re.compile(r"[^.!?…]*(?:[.!?…]+[\"”'’)»]*|$)", re.DOTALL)  # noqa: RUF001 - the quotes people use
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Capt|Sgt|Lt|Col|No)\.$")
_ARTICLE = re.compile(r"^(?:the|a|an|some|another|this|that|his|her|its|their|your|my|our)\s+", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """A text cut into sentences, each with its closing mark. Blank ones are left out."""
    found: list[str] = []
    for part in _SENTENCE.findall(text):
        if not part.strip():
            continue
        joins = found and (_ABBREVIATION.search(found[-1]) or not re.match(r"\s", part))
        if joins:
            found[-1] += part
        else:
            found.append(part)
    return [part.strip() for part in found]


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def bare(phrase: str) -> str:
    """A noun phrase without its article or possessive: `the wet stranger` gives `wet stranger`."""
    return _ARTICLE.sub("", phrase.strip())


def has_article(phrase: str) -> bool:
    """Whether a phrase starts with an article or possessive."""
    return bool(_ARTICLE.match(phrase.strip()))


def squeezed(text: str) -> str:
    """The text with single spaces and none before punctuation."""
    return re.sub(r"\s+([,.;:!?])", r"\1", re.sub(r"\s+", " ", text)).strip()


def listed(items: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
