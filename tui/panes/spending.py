"""What calls took, which caps hold them and what the next round may take: as rows."""

from collections.abc import Callable, Mapping

from textual.content import Content

from engine.records.models import CapName, CapState, Forecast, Spent
from tui.figures import CAPS, cap_amount, cost, duration, money, percent, short_tokens
from tui.glyphs import REFUSED
from tui.models_view import CAP_NAMES, By, ModelsView
from tui.panes.pane import bar
from tui.panes.rows import Row
from tui.text import count, plain

CAP = "cap "
"""What keys of rows begin with."""
CAPPED: dict[CapName, str] = {
    "run_tokens": "the tokens of this run", "run_money": "what this run costs", "day_tokens": "the tokens of a day",
    "day_money": "what a day costs",
}
"""What caps are on, within a sentence."""
ORDER: tuple[By, ...] = ("task", "entity", "round", "model")
_COLUMNS = (("calls", 6), ("in", 9), ("out", 9), ("money", 10), ("time", 10))
_WIDE = sum(width for _, width in _COLUMNS)
_NAME = 8
"""Cells that a name wants in front of its figures; with fewer it has a line of its own."""
_ROUNDS = 200
"""Rounds that are listed, the newest."""
Named = Callable[[str], str]
"""What the reader calls what calls were added up by."""


def meter_rows(view: ModelsView, width: int, named: Named) -> list[Row]:
    """The table of calls in a pane of so many cells, the most costly first, rounds the newest first."""
    room = width - 6
    beyond = _beyond_rows(view, room)
    if not view.total.calls:
        text = "No call yet. Calls are counted from opening a save to closing it."
        return [Row(Content.styled(text, ".quiet"), lead=Content(" ")), *beyond]
    heads = Content.styled("".join(f"{name:>{cells}}" for name, cells in _COLUMNS), ".quiet")
    rows = [Row(Content(""), tail=heads)]
    for key, spent in _ordered(view.spent, view.by):
        rows += _spent_rows(named(key), spent, room)
    rows.append(Row(Content(""), rule="─", lead=Content(" ")))
    rows += _spent_rows("all calls", view.total, room, ".head")
    rows += beyond
    signs = _signs(sum((view.usage.today, view.usage.save or Spent()), view.total) if view.usage else view.total)
    return [*rows, Row(Content.styled(signs, ".quiet"), lead=Content(" "))] if signs else rows


def _beyond_rows(view: ModelsView, room: int) -> list[Row]:
    """What the save took in all its sittings, and the day in all runs, as far as providers and servers were asked."""
    usage = view.usage
    sums = [] if usage is None else [("this save, in all sittings", usage.save), ("today, all runs", usage.today)]
    found = [(name, spent) for name, spent in sums if spent is not None and spent.calls]
    if not found:
        return []
    about = Row(Content.styled("providers and servers only", ".quiet"), rule="─", lead=Content(" "))
    return [about, *(row for name, spent in found for row in _spent_rows(name, spent, room))]


def _ordered(spent: Mapping[str, Spent], by: By) -> list[tuple[str, Spent]]:
    if by == "round":
        return sorted(spent.items(), key=lambda item: -int(item[0]))[:_ROUNDS]
    return sorted(spent.items(), key=lambda item: (-item[1].cost, -item[1].tokens, item[0]))


def _spent_rows(name: str, spent: Spent, room: int, style: str = ".deed") -> list[Row]:
    """Name and figures in one line, or in two where the name is long; calls that failed below."""
    about = "~" if spent.estimated else ""
    values = (
        f"{spent.calls:,}", f"{about}{_tokens(spent.prompt_tokens)}", f"{about}{_tokens(spent.reply_tokens)}", cost(spent),
        duration(spent.seconds),
    )
    figures = Content.styled("".join(f"{text:>{cells}}" for text, (_, cells) in zip(values, _COLUMNS, strict=True)), style)
    body = Content.styled(plain(name), style)
    if body.cell_length > max(room - _WIDE - 1, _NAME):
        rows = [Row(body, lead=Content(" ")), Row(Content(""), lead=Content(" "), tail=figures)]
    else:
        rows = [Row(body, lead=Content(" "), tail=figures)]
    if spent.failed:
        text = f"{REFUSED} {count(spent.failed, 'call')} failed"
        rows.append(Row(Content.styled(text, ".bad"), lead=Content("   ")))
    return rows


def sums(view: ModelsView) -> list[Content]:
    """What all calls took, in one line, and shorter ways to say it."""
    total = view.total
    if not total.calls:
        return [Content.styled("the storyteller speaks for everybody", ".quiet")] if view.routes and view.alone else []
    tokens = f"{short_tokens(total.tokens)} tokens"
    lines = [f"{count(total.calls, 'call')} · {tokens}", tokens]
    if total.cost or total.unpriced:
        short = cost(total) if total.cost else cost(total, long=True)
        lines = [f"{lines[0]} · {cost(total, long=True)}", f"{tokens} · {short}", short]
    return [Content.styled(line, ".deed") for line in lines]


def _tokens(number: int) -> str:
    return f"{number:,}" if number < 1_000_000 else short_tokens(number)


def _signs(total: Spent) -> str:
    """What the signs in the table mean, as far as there are any."""
    signs = ["~ tokens are partly estimates"] if total.estimated else []
    if total.unpriced:
        signs.append("+ and calls of unknown price" if total.cost else "the price of these models is unknown")
    return " · ".join(signs)


def cap_rows(view: ModelsView, width: int) -> list[Row]:
    """Each cap with how far it is used up, and what the next round may take."""
    states = {state.cap: state for state in view.caps}
    rows = [_cap_row(view, cap, states.get(cap), width) for cap in CAP_NAMES]
    which = "Of this run all calls count, the storyteller's too; of a day those to providers and servers."
    return [*rows, *forecast_rows(view), Row(Content("")), Row(Content.styled(which, ".quiet"), lead=Content(" "))]


def _cap_row(view: ModelsView, cap: CapName, state: CapState | None, width: int) -> Row:
    lead = Content.styled(f" {CAPS[cap]:<17}", ".deed")
    if state is None:
        spent = view.total if cap.startswith("run") else view.usage.today if view.usage else None
        used = None if spent is None else spent.cost if cap.endswith("money") else spent.tokens
        words = f"no cap · {cap_amount(cap, used)} used" if used else "no cap"
        return Row(Content.styled(words, ".quiet"), lead=lead, key=CAP + cap)
    words = f"{cap_amount(cap, state.used)} of {cap_amount(cap, state.limit)}"
    room = min(max(width - 6 - lead.cell_length - 6 - len(words) - 2, 6), 30)
    high = state.share >= 0.8
    share = (f" {REFUSED} passed  ", ".bad") if passed(state) else f" {percent(state.share):>4}  "
    body = Content.assemble(
        bar(state.share, room, ".candidate" if high else ".bar"), share, (words, ".quiet"),
    )
    return Row(body, lead=lead, key=CAP + cap)


def passed(state: CapState) -> bool:
    """Whether no call can be made any more, for all that the cap allows is used."""
    return state.used >= state.limit


def kept(cap: CapName, state: CapState | None) -> tuple[str, bool]:
    """What to say of a cap that has just been set, and whether play can go on."""
    if state is None or not passed(state):
        return f"The cap on {CAPPED[cap]} is set. n in Play goes on.", True
    used = f"{cap_amount(cap, state.used)} of {cap_amount(cap, state.limit)}"
    return f"It is set, but {used} are used already: play stands still until it is raised.", False


def no_cap(cap: CapName) -> str:
    """What to say when a cap has been taken out."""
    return f"There is no cap on {CAPPED[cap]} any more."


def forecast_rows(view: ModelsView) -> list[Row]:
    """What the next round may take, what that is reckoned from, and which cap would stop it."""
    rows = [Row(Content("")), Row(Content.styled("The next round", ".head"), lead=Content(" "))]
    if view.forecast is None:
        return [*rows, Row(Content.styled(plain(view.no_forecast) or "reckoning…", ".quiet"), lead=Content(" "))]
    rows += [Row(Content.styled(text, style), lead=Content(" ")) for text, style in foretold(view.forecast)]
    return rows


def foretold(forecast: Forecast) -> list[tuple[str, str]]:
    """A forecast in lines, each with its style."""
    tokens = f"{forecast.prompt_tokens + forecast.reply_tokens:,.0f} tokens"
    asks = "price unknown" if forecast.cost is None else money(forecast.cost) if forecast.cost else "free"
    calls = f"about {count(max(round(forecast.calls), 0), 'call')}"
    takes = ["time not known yet"] if forecast.seconds is None else [duration(forecast.seconds)] if forecast.seconds else []
    lines = [(" · ".join([calls, tokens, asks, *takes]), ".deed"), (plain(forecast.basis), ".quiet")]
    if forecast.stops is not None:
        lines.append((f"{REFUSED} It would stop at the cap on {CAPS[forecast.stops]}: enter on it raises it.", ".bad"))
    return lines
