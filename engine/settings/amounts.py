"""Amounts of tokens and money as people write them: `200000`, `200,000`, `200_000`, `200k`, `1.5M`, `$2`."""

import re
from decimal import Decimal
from typing import Final

_AMOUNT: Final = re.compile(r"(\d{1,3}(?:[,_'\u00a0\u202f ]\d{3})+|\d+(?:_\d+)*)?(\.\d{1,8})?\s*([kKmMbB]?)", re.ASCII)
_TIMES: Final = {"": 1, "k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
_LONGEST: Final = 40
_MONEY: Final = re.compile(r"(?:US)?\$\s*|\s*(?:USD|US\$|\$|dollars?)\Z", re.IGNORECASE)
_TOKENS: Final = re.compile(r"\s*tokens?\Z", re.IGNORECASE)


def tokens(text: str) -> int | None:
    """A whole number of tokens; None for what is none."""
    amount = _amount(_TOKENS.sub("", text.strip(), count=1))
    return int(amount) if amount is not None and amount == int(amount) else None


def dollars(text: str) -> float | None:
    """A sum in US dollars, with or without its sign; None for what is none."""
    amount = _amount(_MONEY.sub("", text.strip(), count=1))
    return float(amount) if amount is not None else None


def _amount(text: str) -> Decimal | None:
    found = _AMOUNT.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None or not (found[1] or found[2]):
        return None
    whole = re.sub(r"\D", "", found[1] or "0", flags=re.ASCII)
    return Decimal(f"{whole}{found[2] or ''}") * _TIMES[found[3].lower()]
