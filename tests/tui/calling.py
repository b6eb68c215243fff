"""The command line in this process, as a script would use it."""

import io
import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from tui.cli import main


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


class Terminal(io.StringIO):
    """Standard input on which somebody sits."""

    def isatty(self) -> bool:
        """It is one."""
        return True


class Caller:
    """Calls commands."""

    def __init__(self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self._patch, self._capture = patch, capture

    def __call__(self, *arguments: object, code: int = 0, typed: str | None = None, piped: str = "") -> Done:
        """Call a command; it must end with this exit code. `typed` is what somebody at a terminal answers."""
        self._capture.readouterr()
        with self._patch.context() as patch:
            patch.setenv("COLUMNS", "80")
            patch.setattr(sys, "argv", ["otherminds", *map(str, arguments)])
            patch.setattr(sys, "stdin", io.StringIO(piped) if typed is None else Terminal(typed))
            with pytest.raises(SystemExit) as ended:
                main()
        out, err = self._capture.readouterr()
        number = ended.value.code or 0
        assert number == code, out + err
        assert "Traceback" not in out + err
        assert isinstance(number, int)
        return Done(number, out, err)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Caller:
    """Call a command of the program."""
    return Caller(monkeypatch, capsys)
