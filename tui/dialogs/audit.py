"""Which rows of the audit trail are looked for."""

import re
from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.widgets import Input

from tui.dialogs.form import FormDialog, Line
from tui.dialogs.one_of import OneOf
from tui.panes.audit import ACTIONS, CAUSES, AuditFilter

_ROUNDS = re.compile(r"\s*(\d{0,9})\s*(-|to|\u2013|\.\.)?\s*(\d{0,9})\s*")
_PREFIXES = {"session": ("ses",), "knowledge": ("kno",), "run": ("col", "pro")}


class AuditDialog(FormDialog):
    """What was done, by what, to whose mind, in which rounds, of which session, piece or run."""

    HELP = """\
Only rows are shown that fit all that stands here; what is left empty leaves nothing out. **Rounds** are one, `12`, or several, `12-30`,
`12-` or `-30`. A **session** (`ses-000012`), a **piece** of knowledge (`kno-000012`) and a **run** (`col-000012`, `pro-000003`) are
named by key; a session and a piece by number too.
"""

    def __init__(self, now: AuditFilter, owners: Sequence[tuple[str, str]], keep: Callable[[AuditFilter], None]) -> None:
        super().__init__("Show only")
        self._now, self._owners, self._keep = now, owners, keep

    def fields(self) -> ComposeResult:
        """A field for each part of the filter."""
        now, actions = self._now, ((action, action) for action in sorted(ACTIONS))
        yield from self.field("Done", OneOf([("", "anything"), *actions], now.action, id="action"))
        yield from self.field("By", OneOf([("", "anything"), *CAUSES.items()], now.cause, id="cause"))
        yield from self.field("In the mind of", OneOf([("", "anybody"), *self._owners], now.owner, id="owner"))
        rounds = Line(rounds_text(now), id="rounds", compact=True, max_length=24, placeholder="12, 12-30, 12- or -30")
        yield from self.field("Rounds", rounds)
        keys = (("session", "Session", "ses-000012 or 12"), ("knowledge", "Piece", "kno-000012 or 12"), ("run", "Run", "col-000012"))
        for key, label, sample in keys:
            line = Line(getattr(now, key), id=key, compact=True, max_length=24, placeholder=sample)
            yield from self.field(label, line)

    async def kept(self) -> str:
        """Look for what stands here."""
        rounds = rounds_of(self.query_one("#rounds", Input).value)
        if rounds is None:
            return "Rounds are numbers: 12, 12-30, 12- or -30."
        keys: dict[str, str] = {}
        for name, prefixes in _PREFIXES.items():
            text = self.query_one(f"#{name}", Input).value.strip()
            key = spelt(text, prefixes)
            if key is None:
                return f"“{text}” is no key of a {name}: they look like {prefixes[0]}-000012."
            keys[name] = key
        picked = {name: self.query_one(f"#{name}", OneOf).value for name in ("action", "cause", "owner")}
        self._keep(AuditFilter(**picked, first=rounds[0], last=rounds[1], **keys))
        return ""


def rounds_text(wanted: AuditFilter) -> str:
    """Rounds as they are written in the dialog."""
    first, last = wanted.first, wanted.last
    if first is None and last is None:
        return ""
    return str(first) if first == last else f"{'' if first is None else first}-{'' if last is None else last}"


def rounds_of(text: str) -> tuple[int | None, int | None] | None:
    """The first and the last round that are meant; None for what is neither. They may be written the wrong way round."""
    if not text.strip():
        return None, None
    found = _ROUNDS.fullmatch(text)
    if found is None or not (found[1] or found[3]) or (found[3] and not found[2] and found[1]):
        return None
    first, last = int(found[1]) if found[1] else None, int(found[3]) if found[3] else None
    if not found[2]:
        return first, first
    return (last, first) if first is not None and last is not None and last < first else (first, last)


def spelt(text: str, prefixes: Sequence[str]) -> str | None:
    """A key as it is kept, also for a bare number when it can mean one only; empty for nothing, None for what is none."""
    if not text:
        return ""
    found = re.fullmatch(rf"(?:({'|'.join(prefixes)})-)?0*(\d{{1,12}})", text.lower())
    if found is None or (found[1] is None and len(prefixes) > 1):
        return None
    return f"{found[1] or prefixes[0]}-{int(found[2]):06}"
