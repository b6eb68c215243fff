"""Authored deeds as summaries: past tense, no subject (`@bob wipes the counter.` becomes `wiped the counter`)."""

import re

_PAST = {
    "be": "was", "bear": "bore", "beat": "beat", "become": "became", "begin": "began", "bend": "bent", "bid": "bade", "bind": "bound",
    "bite": "bit", "bleed": "bled", "blow": "blew", "break": "broke", "bring": "brought", "build": "built", "burn": "burned",
    "buy": "bought", "cast": "cast", "catch": "caught", "choose": "chose", "cling": "clung", "come": "came", "creep": "crept", "cut": "cut",
    "deal": "dealt", "dig": "dug", "do": "did", "draw": "drew", "drink": "drank", "drive": "drove", "eat": "ate", "fall": "fell",
    "feed": "fed", "feel": "felt", "fight": "fought", "find": "found", "flee": "fled", "fling": "flung", "fly": "flew", "forget": "forgot",
    "freeze": "froze", "get": "got", "give": "gave", "go": "went", "grind": "ground", "grow": "grew", "hang": "hung", "have": "had",
    "hear": "heard", "hide": "hid", "hit": "hit", "hold": "held", "hurt": "hurt", "keep": "kept", "kneel": "knelt", "know": "knew",
    "lay": "laid", "lead": "led", "lean": "leaned", "leave": "left", "lend": "lent", "let": "let", "lie": "lay", "light": "lit",
    "lose": "lost", "make": "made", "mean": "meant", "meet": "met", "pay": "paid", "put": "put", "quit": "quit", "read": "read",
    "ride": "rode", "ring": "rang", "rise": "rose", "run": "ran", "say": "said", "see": "saw", "seek": "sought", "sell": "sold",
    "send": "sent", "set": "set", "shake": "shook", "shed": "shed", "shine": "shone", "shoot": "shot", "shrink": "shrank", "shut": "shut",
    "sing": "sang", "sink": "sank", "sit": "sat", "sleep": "slept", "slide": "slid", "speak": "spoke", "spend": "spent", "spin": "spun",
    "spit": "spat", "split": "split", "spread": "spread", "spring": "sprang", "stand": "stood", "steal": "stole", "stick": "stuck",
    "sting": "stung", "stride": "strode", "strike": "struck", "swear": "swore", "sweep": "swept", "swim": "swam", "swing": "swung",
    "take": "took", "teach": "taught", "tear": "tore", "tell": "told", "think": "thought", "throw": "threw", "tread": "trod",
    "understand": "understood", "wake": "woke", "wear": "wore", "weave": "wove", "weep": "wept", "win": "won", "wind": "wound",
    "wring": "wrung", "write": "wrote",
}  # fmt: skip
_NO_VERBS = frozenset({
    "afterwards", "always", "backwards", "besides", "downstairs", "downwards", "forwards", "hers", "nowadays", "perhaps", "sideways",
    "sometimes", "this", "thus", "towards", "upstairs", "upwards",
})  # fmt: skip
"""Words in -s that may open a deed without being its verb."""
_SHORT_FINAL = re.compile(r"[^aeiou]*[aeiou][bdgklmnprt]")
"""One syllable that ends in one vowel and one consonant, which doubles: `stop`, `hum`."""
_DOUBLING = frozenset({"admit", "begin", "commit", "forget", "occur", "permit", "prefer", "refer", "regret", "submit"})


def past(verb: str) -> str:
    """The past tense of a verb in the third person of the present (`wipes`, `goes`); any other word comes back as it is."""
    lemma = _lemma(verb)
    if lemma is None:
        return verb
    if lemma in _PAST:
        return _PAST[lemma]
    if lemma.endswith("e"):
        return lemma + "d"
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ied"
    if _SHORT_FINAL.fullmatch(lemma) or lemma in _DOUBLING:
        return lemma + lemma[-1] + "ed"
    return lemma + "ed"


def deed(sentence: str) -> str:
    """The summary of a sentence whose subject is already gone: first verb in the past tense, no full stop, no capital.

    Verbs further on change only where `and`, `then` or a comma leads to one that cannot be a noun. Authors do best to write
    in the past tense.
    """
    text = sentence.strip()
    text = text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text
    words = text.split(" ")
    first = words[0]
    if first[:1].isupper() and first[1:].islower():
        words[0] = first = first.lower()
    words[0] = past(first)
    if words[0] != first:
        for at in range(1, len(words) - 1):
            follows = words[at] in ("and", "then") or words[at].endswith(",")
            if follows and _lemma(words[at + 1]) in _SURE:
                words[at + 1] = past(words[at + 1])
    return " ".join(words)


_SURE = frozenset(_PAST) - {
    "beat", "bite", "blow", "break", "build", "burn", "cast", "catch", "cut", "deal", "draw", "drink", "drive", "fall", "feed", "fight",
    "find", "fly", "grind", "hide", "hit", "hold", "hurt", "lead", "leave", "lie", "light", "meet", "read", "ride", "ring", "rise", "run",
    "see", "set", "shed", "shoot", "sink", "slide", "spin", "spit", "split", "spread", "spring", "stand", "stick", "sting", "stride",
    "strike", "swing", "tear", "tread", "wake", "win", "wind",
}  # fmt: skip
"""Irregular verbs whose form in -s is hardly ever a noun: `takes` and `goes`, but not `leaves` or `rings`."""


def _lemma(verb: str) -> str | None:
    """The plain form of a third person (`goes` -> `go`), or None for words that are no such form."""
    if verb == "is":
        return "be"
    if verb == "has":
        return "have"
    if not re.fullmatch(r"[a-z]+", verb) or not verb.endswith("s") or verb.endswith(("ss", "us")) or verb in _NO_VERBS or len(verb) < 4:
        return None
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) and verb[:-1] not in _PAST:
        return verb[:-2]
    return verb[:-1]
