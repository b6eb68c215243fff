"""Words by which one statement ends or denies another. Pure."""

import re
from collections.abc import Mapping
from itertools import combinations
from typing import Final

from engine.llm.stems import stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _among(groups: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """For each word of a group, by its stem, the others."""
    found: dict[str, set[str]] = {}
    for group in groups:
        for one, other in combinations([stem(word) for word in group.split()], 2):
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


PREDICATES: Final = _among((
    "alive dead", "open closed shut", "open locked barred", "rich poor penniless", "married unmarried", "married widowed",
    "married divorced", "free captive", "free imprisoned", "free jailed", "full empty",
    "guilty innocent", "whole broken", "whole ruined", "true false",
    "safe dangerous", "awake asleep", "healthy sick", "healthy ill", "honest dishonest", "loyal disloyal", "friendly hostile",
    "strong weak", "brave cowardly", "drunk sober", "armed unarmed", "real fake", "genuine forged", "hot cold", "dry wet", "dry flooded",
    "cheap expensive", "present absent", "calm stormy", "legal illegal", "known unknown", "friend enemy", "ally enemy",
))  # fmt: skip
"""What cannot be said of one and the same at a time, where it is what something *is*."""
ATTITUDES: Final = _among((
    "like hate", "like loathe", "like detest", "like despise", "like dislike", "love hate", "love loathe", "love detest", "love despise",
    "trust distrust", "trust mistrust", "respect despise",
))  # fmt: skip
"""Verbs that cannot hold of the same two at a time."""
HOURS: Final = _among(("dawn noon dusk midnight", "sunrise noon sunset midnight", "dawn sunset", "dusk sunrise", "morning evening"))
"""Times of day at which one thing does not happen twice."""

IS: Final = re.compile(r"\b(?:is|are|am|remains?|stands?|lies|seems) (?:an? )?(?:now |still |quite |very |\w+ly )?(\w+)")
"""A word that says what something is."""
HAS: Final = re.compile(
    r"\b(?:has|have) (?=(?:a|an|the|his|her|its|their|no|some|many|several|\d\w*|one|two|three|four|five|six|seven|eight|nine|ten)\b)"
)
"""`has` where it says what somebody owns, and helps no other verb."""
OWNS: Final = re.compile(rf"{HAS.pattern}|(?<!\bhis )(?<!\bher )(?<!\bits )(?<!\btheir )\b(?:owns?|owning|possess(?:es|ing)?) ")
"""All that says so, with the space behind it."""

ENDED: Final = re.compile(
    r"\b(?:no longer|not (?:\w+ )?any ?(?:more|longer)|never again|used to|(?:has |have )?(?:stopped|ceased|quit|given up|gave up)"
    r"(?= \w+ing\b| to \w+))\b",
    re.IGNORECASE,
)
"""What says that something was so and is not any more."""
INSTEAD: Final = re.compile(r"\b(?:instead|rather than|after all|no longer|changed (?:his|her|its|their) minds?)\b", re.IGNORECASE)
"""What says that a decision stands in the place of another."""

HELD: Final = re.compile(r"\b(?:own|owns|possess|possesses|keep|keeps|hold|holds|carry|carries|wear|wears)\b|" + HAS.pattern)
"""What says that somebody has a thing: its name follows."""
_GONE = (
    "sold|lost|pawned|forfeited|squandered|wrecked|destroyed|smashed|scrapped|sank|sunk|burnt|burned|stolen|gambled away|given away|"
    "given up|traded away|thrown away|signed away"
)
PARTED: Final = re.compile(
    rf"\b(?:has |have |had )?(?:since )?(?:{_GONE}|gave away|gave up|threw away|traded away|bartered away|parted with|got rid of|gave)"
    r"(?: off| away)?\b"
)
"""What says that somebody has a thing no more: its name follows."""
WENT: Final = re.compile(
    rf"\b(?:(?:was|were|is|are|has been|have been|got) (?:{_GONE}|taken)|sank|burnt down|burned down|(?:is|are) gone|"
    r"(?:has|have) (?:sunk|burnt))\b"
)
"""The same, after the name of the thing."""

UNIQUE: Final = re.compile(
    r"\b(?:is|are) (?:called|named|the)\b|\b(?:was|were|is) born\b|\bis (?:married|wed|betrothed) to\b|"
    r"\b(?:name|age|captain|master|mistress|owner|heir|husband|wife|father|mother|price|password) (?:is|was)\b"
)
"""What can be said with one name or number only: of two one is wrong."""
PAST: Final = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!\bbe )\b(?:\w{2,}ed|paid|gave|took|bought|sold|met|saw|told|said|went|came|brought|found|lost|won|made|"
    r"stole|sent|spent|drank|ate|heard|got)\b"
)
"""What tells of an event: it may come again with other numbers and other people."""

BREAKS: Final = _words(
    "at in on to for from with by of near under over behind beside inside into about against through during since before after and or but "
    "that which who when while because so as yesterday today"
)
"""Words before which the name of a thing ends."""
NOT_THINGS: Final = frozenset(
    map(stem, _words("way temper mind head heart patience breath nerve balance hand place grip courage face voice touch fight sight"))
)
"""By their stems, what is had and lost in words only."""
ARTICLES: Final = _words("a an the his her its their my your our this that these those some")
NAMED: Final = re.compile(r", (?:the )?(?!I\b)[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*)?(?=[.,!?]|$)")
"""A name behind what it is the name of: `a boat, the Heron`."""
REGAINED: Final = re.compile(
    r"\b(?:bought|got|won|took|brought|received|has|have|had|earned|found|stole|recovered)\b(?=.* back\b)|\bregained\b"
)
"""What says that somebody has again what was gone: its name follows."""
