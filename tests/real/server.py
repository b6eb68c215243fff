"""A real llama.cpp server on loopback, in a process of its own that ends with the tests, whatever becomes of them."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

_START: Final = 300.0
"""Seconds for the model to load: half of one when the machine is quiet."""
_FAREWELL: Final = 2.0
"""Seconds between asking the process to end and ending it: a busy server does not listen."""


class NoServerError(Exception):
    """llama.cpp cannot be run here. The text says why."""


@dataclass(frozen=True)
class LlamaServer:
    """One that listens."""

    root: str
    """Its address without a path."""
    key: str
    """What it asks callers for; empty when it takes all."""
    window: int
    """Tokens that a prompt and its reply may fill."""

    @property
    def base(self) -> str:
        """Its address as an OpenAI-compatible server's is given."""
        return f"{self.root}/v1"

    def post(self, path: str, body: Mapping[str, Any], seconds: float = 600.0) -> Any:
        """What it answers to a request that does not go through any library."""
        return self._answer(path, json.dumps(body).encode(), seconds)

    def get(self, path: str, seconds: float = 60.0) -> Any:
        """What it tells of itself."""
        return self._answer(path, None, seconds)

    def _answer(self, path: str, body: bytes | None, seconds: float) -> Any:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"{self.root}{path}", body, headers), timeout=seconds) as response:
            return json.load(response)

    def counts(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer."""
        return len(self.post("/tokenize", {"content": text})["tokens"])


@contextlib.contextmanager
def llama_server(model: Path, log: Path, *, window: int, locked: bool = True) -> Iterator[LlamaServer]:
    """A server over a model file, with one thread and room for one call at a time, which writes what it has to say to `log`. When it is
    `locked` it wants a key. Raises `NoServerError`."""
    if find_spec("xllamacpp") is None:
        raise NoServerError("The package xllamacpp is not installed: its wheels are for Linux on x86-64.")
    key = secrets.token_hex(16) if locked else ""
    command = [sys.executable, str(Path(__file__).with_name("serve.py")), str(model), str(window)]
    with log.open("wb") as told:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, text=True, env={**os.environ, "LLAMA_KEY": key}
        )
    try:
        yield LlamaServer(_address(process, log), key, window)
    finally:
        process.terminate()
        try:
            process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _address(process: "subprocess.Popen[str]", log: Path) -> str:
    """Where it listens, once it does."""
    assert process.stdout is not None
    lines: list[str] = []
    reading = threading.Thread(target=lambda out: lines.append(out.readline().strip()), args=(process.stdout,), daemon=True)
    reading.start()
    reading.join(_START)
    if not lines or not lines[0].startswith("http"):
        time.sleep(0.2)  # the last words of a process that has ended
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
        raise NoServerError(f"llama.cpp did not start within {_START:.0f} s: {' / '.join(said) or 'it said nothing'}")
    return lines[0]
