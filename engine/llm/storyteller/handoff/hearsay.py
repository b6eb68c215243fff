"""What somebody has from others: `told P1 that P2 said that P3 said that it rained` is `told P1 that, according to P3, it rained`."""

import re

_WHO = (
    r"(?:P\d+|[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*)*"
    r"|(?:the|a|an|some) [a-z-]+(?: [a-z-]+){0,2}?(?: (?:in|of|with|from|at|on|by) (?:the|a|an) [a-z-]+(?: [a-z-]+)?)?)"
)
_SAID = re.compile(
    rf"(?P<head>\b(?:told (?:P\d+(?:(?:, | and ))?)+|the others|answered|said) ?that )(?:{_WHO} (?:had )?(?:said|told \S+) that )*"
    rf"(?P<source>{_WHO}) (?:had )?said that (?P<what>\w)"
)
_WENT = re.compile(r"\bwent from (?P<off>[^,;]+?) to (?P<to>[^,;]+?) through [^,;]+")


def first_hand(predicate: str) -> str:
    """A predicate that names only the one who is said to have said it first."""
    return _SAID.sub(lambda match: f"{match['head'].rstrip()}, according to {match['source']}, {match['what']}", predicate, count=1)


def shorter_way(predicate: str) -> str:
    """A predicate without the door somebody is said to have gone through: `went from the bar to the cellar`."""
    return _WENT.sub(lambda match: f"went from {match['off']} to {match['to']}", predicate)
