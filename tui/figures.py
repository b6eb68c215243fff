"""Tokens, money and time as people read them. A price that is unknown is said to be, and never shown as nothing."""

from engine.records.models import CapName, CapState, Spent

CAPS: dict[CapName, str] = {
    "run_tokens": "tokens, this run", "run_money": "money, this run", "day_tokens": "tokens, today", "day_money": "money, today",
}
"""What caps are called."""


def short_tokens(number: float) -> str:
    """A number of tokens in at most five cells: `840`, `14.2k`, `142k`, `1.42M`."""
    if number < 1_000:
        return f"{number:.0f}"
    if number < 999_500:
        thousands = number / 1_000
        return f"{thousands:.0f}k" if thousands >= 99.95 else f"{thousands:.1f}k"
    millions = number / 1_000_000
    return f"{millions:.0f}M" if millions >= 99.5 else f"{millions:.1f}M" if millions >= 9.995 else f"{millions:.2f}M"


def money(dollars: float) -> str:
    """US dollars, small sums with as many places as they need: `$0.0021`, `$0.021`, `$2.13`, `$213`."""
    if dollars == 0:
        return "$0"
    if dollars < 0.0001:
        return "<$0.0001"
    places = 4 if dollars < 0.00995 else 3 if dollars < 0.9995 else 2 if dollars < 99.995 else 0
    return f"${dollars:,.{places}f}"


def price(dollars: float) -> str:
    """What a million tokens cost: `$0.25`, `$2`, `$0.075`."""
    return f"${dollars:,.0f}" if dollars == int(dollars) else f"${dollars:.2f}" if dollars == round(dollars, 2) else f"${dollars:.3g}"


def cost(spent: Spent, long: bool = False) -> str:
    """What calls have cost: `$0.021`, `free` when nothing is asked for any of them, `$0.021+` or `unknown` when prices are."""
    if not spent.unpriced:
        return money(spent.cost) if spent.cost else "free"
    if not spent.cost:
        return "price unknown" if long else "unknown"
    return f"{money(spent.cost)} and calls of unknown price" if long else f"{money(spent.cost)}+"


def duration(seconds: float) -> str:
    """Wall-clock time: `<0.1 s`, `0.4 s`, `38 s`, `3 m 12 s`, `2 h 5 m`."""
    if seconds < 0.05:
        return "<0.1 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    return f"{whole // 60} m {whole % 60} s" if whole < 3_600 else f"{whole // 3_600} h {whole % 3_600 // 60} m"


def cap_amount(cap: CapName, value: float) -> str:
    """An amount of what a cap limits: `50,000` tokens, `$2.50`."""
    return money(value) if cap.endswith("money") else f"{value:,.0f}"


def percent(share: float) -> str:
    """A share of a cap: `62%`. Never 100 % before it is reached, and never 0 % of something."""
    whole = round(share * 100) if share >= 1 else min(round(share * 100), 99)
    return f"{max(whole, 1) if share > 0 else 0}%"


def nearest(caps: tuple[CapState, ...]) -> CapState | None:
    """The cap that is used up most."""
    return max(caps, key=lambda state: state.share, default=None)
