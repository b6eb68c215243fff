"""What the doctor finds: values, for screens and scripts alike."""

from collections.abc import Sequence
from typing import Literal

from engine.records.base import Record

Area = Literal["program", "settings", "models", "servers", "embedder", "database", "terminal"]
State = Literal["ok", "warn", "bad"]


class Finding(Record):
    """One thing that was looked at."""

    area: Area
    name: str
    """What it is called within its area; for a model, what settings call it."""
    state: State
    """`warn`: play goes on, with less than there could be. `bad`: something that is set up does not work."""
    text: str
    """What was found, in one line for people. Holds no key and no part of one."""
    advice: str = ""
    """What to do about it, or what could be done; empty when there is nothing."""
    command: str = ""
    """What to type for it in a shell, when that is all there is to do."""


def worst(findings: Sequence[Finding]) -> State:
    """The worst state among the findings."""
    states = {finding.state for finding in findings}
    return "bad" if "bad" in states else "warn" if "warn" in states else "ok"
