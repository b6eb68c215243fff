"""The rows that tell of something in full: paragraphs, headings, the keys that do something to it."""

from textual.content import Content

from tui.panes.rows import Row


def text(words: str, style: str = ".deed") -> Row:
    """A paragraph."""
    return Row(Content.styled(words, style), lead=Content(" "))


def quiet(words: str) -> Row:
    """What is said about something."""
    return text(words, ".quiet")


def head(words: str) -> Row:
    """A heading."""
    return text(words, ".head")


def gap() -> Row:
    """An empty line."""
    return Row(Content(""))


def keys(key: str, does: str) -> Row:
    """A key and what it does."""
    return Row(Content.assemble((key, ".key"), (f"  {does}", ".quiet")), lead=Content(" "))
