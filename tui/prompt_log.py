"""The file that `run --prompts` writes."""

import json
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from engine.errors import OthermindsError
from engine.llm.cassette import is_tape
from engine.llm.protocol import Completion, ModelRequest
from tui.paths import is_save

_FIELDS = {"task", "entity", "round", "template", "model", "prompt", "reply"}
_LONGEST = 64 * 1024 * 1024
"""Bytes of a line."""


class PromptLog:
    """A file with a JSON line for each reply of a model: all that was sent, byte for byte, and what came back."""

    def __init__(self, path: Path) -> None:
        """Raises `OthermindsError`: for whatever stands there already, too, unless it is empty or was written by such a run."""
        try:
            what = "a save" if is_save(path) else "a tape" if is_tape(path) else "" if _may_go(path) else "there already"
            if what:
                raise OthermindsError(f"{path} is {what}.", "Choose another file for --prompts.")
            self._file: TextIO = path.open("w", encoding="utf-8", buffering=1)
        except OSError as error:
            raise OthermindsError(f"Cannot write {path}: {error.strerror}.", "Choose another file for --prompts.") from error

    def __call__(self, request: ModelRequest, completion: Completion) -> None:
        """Put down one reply."""
        line = {
            "task": request.task, "entity": request.entity, "round": request.round, "template": request.template,
            "model": completion.model, "prompt": request.text + completion.added, "reply": completion.text,
        }
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()


def _may_go(path: Path) -> bool:
    """Whether nothing is lost when a file is written over: there is none, it is empty, it is no regular file, or it is a log of prompts."""
    if not path.is_file():
        return True
    with path.open("rb") as file:
        line = file.readline(_LONGEST)
    try:
        found = json.loads(line) if line else dict.fromkeys(_FIELDS)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= _FIELDS
