"""Knowledge as lists: pieces that are held, pieces that are gone, what waits for a person, what somebody believed at an earlier round."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from textual.content import Content
from textual.geometry import Region

from engine.knowledge_views import AuditLine, BeliefLine, KnowledgeLine, ReviewLine
from engine.records.knowledge import Knowledge
from tui.figures import percent
from tui.glyphs import CANDIDATE, PIN_HAND, REFUSED
from tui.panes.origins import weight
from tui.panes.rows import Row, RowList
from tui.text import plain

Shelf = Literal["known", "review", "asked"]
SHELVES: Final[Mapping[Shelf, str]] = {"known": "Known", "review": "Review", "asked": "Asked"}
ORDER: Final[tuple[Shelf, ...]] = ("known", "review", "asked")
Item = KnowledgeLine | ReviewLine | BeliefLine | AuditLine
"""One thing on a shelf; an audit line for a piece that is no more."""
MORE: Final = "more"
"""Key of the row behind which there is more."""
_LONGEST: Final = 360
"""Characters of a piece that its row shows; all of it stands beside."""


class KnownList(RowList):
    """Rows that may change while one looks at them: the row one is on stays where it is, and a neighbour takes its place when it goes."""

    TITLE = "Knowledge"
    help_text = ""
    """What the shelf in sight is for."""

    @property
    def HELP(self) -> str:  # type: ignore[override]  # noqa: N802 - Textual's own name, and a value that the shelf in sight gives
        """Help for the shelf in sight."""
        return self.help_text

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows instead."""
        keys, new = self.keys, {row.key for row in rows if row.key}
        if self.cursor in keys and self.cursor not in new:
            at = keys.index(self.cursor)
            near = [key for key in (*keys[at + 1 :], *reversed(keys[:at])) if key in new]
            if near:
                self.cursor = near[0]
        before = self._top(self.cursor)
        super().show(rows)
        after = self._top(self.cursor)
        if before is not None and after is not None and before != after:
            self.scroll_relative(y=after - before, animate=False, immediate=True)

    def _top(self, key: str) -> int | None:
        """The first line of a row, when it is in sight."""
        for index, row in enumerate(self._rows):
            if key and row.key == key and index < len(self._wrapped.first):
                return self._wrapped.first[index]
        return None

    def bring(self, key: str) -> None:
        """Put the cursor on a row and bring it into sight."""
        self.cursor = key
        if (top := self._top(key)) is not None:
            self.scroll_to_region(Region(0, top, 1, 3), animate=False, immediate=True, x_axis=False)


def key_of(item: Item) -> str:
    """The key of the knowledge that an item is about."""
    match item:
        case KnowledgeLine(row=row):
            return row.id
        case ReviewLine(line=line) | BeliefLine(line=line):
            return line.row.id
        case AuditLine(row=told):
            return told.knowledge_id or ""


def line_of(item: Item) -> KnowledgeLine | None:
    """The piece itself; None for one that is no more."""
    match item:
        case KnowledgeLine():
            return item
        case ReviewLine(line=line) | BeliefLine(line=line):
            return line
        case AuditLine():
            return None


def holds_words(item: Item, words: Sequence[str]) -> bool:
    """Whether all these words, which are in lower case, stand in what an item says."""
    if not words:
        return True
    line = line_of(item)
    if isinstance(item, AuditLine):
        text = f"{item.before} {item.why} {item.owner}"
    elif line is not None:
        text = f"{line.text} {line.rationale} {line.row.topic_key} {line.subject} {line.holder} {line.owner}"
        text += item.reason if isinstance(item, ReviewLine) else ""
    folded = text.casefold()
    return all(word in folded for word in words)


def row_of(item: Item, holder: str = "") -> Row:
    """The row of an item in its list. `holder` is whose all of the list is: of that one it is not said again."""
    match item:
        case KnowledgeLine():
            return _piece(item, holder)
        case ReviewLine():
            return _waiting(item)
        case BeliefLine():
            return _belief(item, holder)
        case AuditLine():
            return _gone(item)


def percent_sure(confidence: float) -> str:
    """How sure somebody is, in words."""
    return f"{percent(confidence)} sure"


def signs_of(row: Knowledge) -> list[str]:
    """What sets a piece apart, each in words."""
    marks = (
        (row.term == "short", "short-term"), (row.tier != "hot", row.tier), (row.pinned, f"{PIN_HAND} pinned"),
        (row.authored, "with the world"), (row.sensitivity == "sensitive", "sensitive"),
    )
    return [words for so, words in marks if so]


def shortened(text: str, longest: int = _LONGEST) -> str:
    """A text as far as a row has room for it."""
    told = plain(text[: longest * 2])
    return told if len(told) <= longest else f"{told[: longest - 1]}…"


def _facts(line: KnowledgeLine, holder: str, *more: str) -> str:
    row = line.row
    whose = "" if line.holder == holder else f"held by {shortened(line.holder, 60)}"
    about = f"about {shortened(line.subject, 40)}" if line.subject else ""
    parts = [row.kind, about, whose, line.since, percent_sure(row.confidence), *signs_of(row), *more]
    return plain(" · ".join(part for part in parts if part))


def _row(line: KnowledgeLine, about: Content, tail: Content, style: str = ".deed") -> Row:
    body = Content.assemble((shortened(line.text), style), "\n", about)
    return Row(body, lead=weight(line.row.importance) + Content("  "), tail=tail, key=line.row.id)


def _piece(line: KnowledgeLine, holder: str) -> Row:
    if line.waits:
        return _row(line, Content.styled(_facts(line, holder), ".quiet"), Content.styled(f"{CANDIDATE} waits", ".candidate"))
    if line.until:
        about = Content.styled(_facts(line, holder, f"ended {line.until}"), ".quiet")
        return _row(line, about, Content.styled(f"{REFUSED} ended", ".quiet"), ".thought")
    return _row(line, Content.styled(_facts(line, holder), ".quiet"), Content(""))


def _waiting(item: ReviewLine) -> Row:
    about = Content.assemble(
        (_facts(item.line, ""), ".quiet"), (f"\n{CANDIDATE} {shortened(item.reason, 160)}", ".candidate"),
        (f"\n→ {shortened(item.change.holder, 60)}: {shortened(item.change.told, 160)}", ".name"),
    )
    return _row(item.line, about, Content.styled(f"round {item.item.round}", ".quiet"))


def _belief(item: BeliefLine, holder: str) -> Row:
    about = Content.styled(_facts(item.line, holder), ".quiet")
    if item.now:
        about += Content.styled(f"\n→ {shortened(item.now)}", ".candidate")
    return _row(item.line, about, Content.styled("changed since" if item.now else "still so", ".quiet"))


def _gone(item: AuditLine) -> Row:
    first = item.before.split("\n", 1)[0] or item.after
    about = plain(f"{item.owner} · {item.row.action} in round {item.row.round}: {shortened(item.why, 120)}")
    body = Content.assemble((shortened(first), ".thought"), "\n", (about, ".quiet"))
    return Row(body, lead=Content("   "), tail=Content.styled(f"{REFUSED} {item.row.action}", ".quiet"), key=item.row.knowledge_id or "")
