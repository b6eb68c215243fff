"""A planted mistake and what must be said of it. Shared by the tables of mistakes."""

from collections.abc import Callable
from typing import NamedTuple


class Mistake(NamedTuple):
    """`text` in `file`, with `⇒` before where the only problem stands."""

    name: str
    file: str
    text: str
    path: str
    message: str
    hint: str

    def check(self, only_problem: Callable[[str, str], tuple[str, str, str]]) -> None:
        """It is reported once, where it stands, in these words."""
        path, message, hint = only_problem(self.file, self.text)
        assert path == self.path
        assert self.message in message
        assert self.hint in hint
