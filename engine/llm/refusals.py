"""Replies that are no replies: nothing, pages and messages of errors in place of text, and a model's refusal to play on.

Characters refuse, apologize and err all the time. So only what no character would say is taken for the model's own voice: it begins the
reply, outside quotation marks, and speaks of content, policies or being a model, or it is one of the sentences that models are taught to
refuse with and nothing follows but an offer of other help.
"""

import json
import re
from typing import Final

_SHORT: Final = 600
"""Characters of the longest error message that is taken for one. Those of gateways are pages."""
_PAGE: Final = re.compile(r"<(?:!doctype\s+html|html|head|body|\?xml)\b", re.IGNORECASE)
_ERROR_FIELDS: Final = frozenset({
    "code", "detail", "error", "errors", "message", "object", "param", "request_id", "status", "success", "timestamp", "type",
})
_STATUS: Final = (
    r"bad gateway|bad request|service (?:temporarily )?unavailable|gateway time-?out|internal server error|too many requests|forbidden"
    r"|unauthorized|not found"
)
_MESSAGE: Final = re.compile(
    r"\[?(?:error|fatal error|internal error|api error|server error)\]?\s*:"
    r"|error code\s*:?\s*\d{3}\b"
    rf"|(?:http(?:/\d(?:\.\d)?)?\s+|status(?: code)?:?\s+)?[45]\d\d[\s:,-]+(?:{_STATUS})\b"
    rf"|(?:{_STATUS})\W*$"
    r"|upstream (?:connect error|request timeout)\b"
    r"|traceback \(most recent call last\)"
    r"|[\w.]{0,40}(?:error|exception): "
    r"|an error (?:has )?occurred while (?:processing|generating|handling) (?:your|the|this) (?:request|response|prompt)"
    r"|(?:rate limit|quota) (?:reached|exceeded)\b",
    re.IGNORECASE,
)

_OPENING: Final = re.compile(r"[\s*_#>~`(\[-]*(?:(?:assistant|ooc|out of character|note)\s*[:\]]\s*)?[\s*_]*", re.IGNORECASE)
_QUOTES: Final = "\"“”„«»'\N{LEFT SINGLE QUOTATION MARK}"
_TYPOGRAPHIC: Final = "\N{RIGHT SINGLE QUOTATION MARK}"
_SORRY: Final = (
    r"(?:(?:(?:i'm|i am) (?:\w+ )?(?:sorry|afraid)|i (?:\w+ )?apologi[sz]e|sorry|(?:my )?apologies|unfortunately|i regret"
    r"|i (?:appreciate|understand) [^.!?]{1,120}|thank you for [^.!?]{1,80})[,.;:!]? (?:for (?:the|any) [^.,!?]{1,60}[,.] )?"
    r"(?:but,? |however,? |that )?)"
)
_CANNOT: Final = (
    r"i(?:'m| am)? ?(?:simply |just |really )?(?:can't|cannot|can not|won't|will not|couldn't|unable to|not able to|not going to"
    r"|must (?:respectfully )?decline(?: to)?|have to (?:respectfully )?decline(?: to)?|(?:don't|do not) feel comfortable|not comfortable"
    r"|will not be able to|won't be able to|cannot and will not)"
)
_DO: Final = (
    r"(?:(?:assist|help|continu|proceed|fulfil|compl|writ|creat|generat|provid|produc|depict|describ|portray|engag|participat|respond|discuss"
    r"|support|role-?play)\w*)"
)
_PLAIN: Final = r"[^.!?\"“”]"
"""What a sentence is made of, speech apart."""
_OWN_VOICE: Final = re.compile(
    rf"{_SORRY}?(?:"
    rf"{_CANNOT} (?:{_PLAIN}{{0,60}} )?(?:{_DO}|with) (?:{_PLAIN}{{0,120}} )?"
    r"(?:content|role-?play\w*|scenario|prompt|explicit|nsfw|fictional)\b"
    r"|(?:as|because i'm|because i am|i'm|i am) (?:just |only |merely )?an? (?:\w+ )?(?:ai|artificial intelligence|language model)\b"
    r"|(?:this|that|the|your) (?:request|prompt|content|scenario|message) (?:\w+ ){0,4}(?:violat\w+|goes against|conflicts with|breach\w+) "
    r"|(?:it|that|this)(?: is|'s| would be| goes) (?:\w+ ){0,3}(?:against|outside) my (?:\w+ )?(?:guidelines|programming|polic)"
    r")",
    re.IGNORECASE,
)
_TAUGHT: Final = re.compile(
    rf"(?P<sorry>{_SORRY})?{_CANNOT}(?: (?P<verb>{_DO}))?(?: you)?(?: with)?(?: (?:that|this|it|your|the|such))?"
    rf"(?: (?P<what>requests?|tasks?|further|any further|conversation))?(?:,? (?:as|because|since|due to) {_PLAIN}{{1,200}})?"
    r"(?:[.!)\]*_]+\s*|$)",
    re.IGNORECASE,
)
_OFFER: Final = re.compile(
    r"(?:however,? |but |instead,? )?(?:if (?:you|there)|is there|please|let me know|feel free|would you|can i|how (?:can|about|else)"
    r"|perhaps (?:we|i)|i(?:'d| would) be|i(?:'m| am) (?:here|happy|designed|programmed)|it (?:goes|violates|is against|contains|involves)"
    r"|this (?:content|request)|we (?:can|could)|thank you|i hope|my (?:guidelines|purpose))\b",
    re.IGNORECASE,
)


def no_reply(text: str) -> str:
    """What stands in place of a reply, in a few words that follow `replied with`; empty for a reply."""
    text = text.strip()
    if not text:
        return "nothing"
    if _PAGE.match(text):
        return "a web page"
    if _is_error(text) or (len(text) <= _SHORT and not re.search(r"[\"“”{]", text) and _MESSAGE.match(text)):
        return "an error"
    return ""


def refuses(prose: str) -> bool:
    """Whether prose is a model's own refusal rather than a character's words or deeds."""
    text = _OPENING.sub("", prose.replace(_TYPOGRAPHIC, "'"), count=1).rstrip()
    if text[:1] in _QUOTES:  # or empty
        return False
    if _OWN_VOICE.match(text):
        return True
    taught = _TAUGHT.match(text)
    if taught is None:
        return False
    rest = text[taught.end() :].strip()
    verb, what = (taught["verb"] or "").lower(), (taught["what"] or "").lower()
    clear = verb in ("assist", "comply") or what.startswith("request") or taught["sorry"] is not None or bool(rest)
    return bool(verb or what) and clear and (not rest or _OFFER.match(rest) is not None)


def _is_error(text: str) -> bool:
    """Whether a text is JSON that tells of an error and of nothing else."""
    if not text.startswith("{"):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    told = isinstance(value, dict) and {"error", "errors", "detail"} & value.keys()
    return bool(told) and value.keys() <= _ERROR_FIELDS
