"""Settings that cannot be used: each fault with the lines around it, and what can be done about it, as rows."""

from typing import TYPE_CHECKING

from textual.content import Content

from tui.glyphs import CURSOR, REFUSED
from tui.models_view import ModelsView
from tui.panes.rows import Row
from tui.text import count, plain

if TYPE_CHECKING:
    from engine.settings import Broken, FaultAt

FAULT = "fault "
"""What keys of rows begin with."""


def fault_rows(view: ModelsView) -> list[Row]:
    """What is wrong, a row for each fault, above what holds meanwhile. None when nothing is."""
    found = view.broken
    if found is None:
        return []
    rows = [Row(Content.styled(f"{REFUSED} The settings cannot be used: {count(len(found.faults), 'fault')}", ".bad"), lead=Content(" "))]
    if found.path is not None:
        rows.append(Row(Content.styled(plain(str(found.path)), ".quiet"), lead=Content("   ")))
    rows += [
        Row(Content(plain(fault.text)), lead=Content("   "), key=f"{FAULT}{number}") for number, fault in enumerate(found.faults)
    ]
    return [*rows, Row(Content("")), Row(Content.styled("Meanwhile", ".head"), lead=Content(" "))]


def fault_of(view: ModelsView, key: str) -> "FaultAt | None":
    """The fault of a row."""
    if view.broken is None or not key.startswith(FAULT):
        return None
    number = int(key.removeprefix(FAULT))
    return view.broken.faults[number] if number < len(view.broken.faults) else None


def fault_detail(found: "Broken", fault: "FaultAt") -> list[Row]:
    """What to do about a fault, the lines around it, and the keys that help. Its words stand beside it already."""
    rows = [Row(Content.styled(plain(found.advice), ".deed"), lead=Content(" "))] if found.advice else []
    excerpt = list(found.around(fault.line)) if fault.line else []
    if excerpt and rows:
        rows.append(Row(Content("")))
    for number, line in excerpt:
        here = number == fault.line
        lead = Content.styled(f" {CURSOR if here else ' '} {number:>4}  ", ".bad" if here else ".quiet")
        rows.append(Row(Content.styled(_safe(line), ".name" if here else ".quiet"), lead=lead))
    keys = []
    if found.path is not None:
        keys.append(("enter", "opens the file in your editor"))
    if fault.line:
        keys.append(("x", f"puts line {fault.line} aside: it stays there as a comment"))
    keys.append(("r", "reads the settings again"))
    rows += [Row(Content("")), *(Row(Content.styled(text, ".quiet"), lead=Content.styled(f" {key:<5} ", ".key")) for key, text in keys)]
    return rows


def _safe(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + plain(line[indent:])
