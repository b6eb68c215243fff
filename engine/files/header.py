"""`world.yaml` apart from its sections: name, clock, seed, policies and what it suggests about models."""

from dataclasses import dataclass
from datetime import datetime

from engine.files.fields import Fields, scalar_of
from engine.files.hints import read_hints
from engine.files.policies import read_policies
from engine.files.problems import quoted
from engine.files.references import Known
from engine.files.times import NotATimeError, read_clock
from engine.files.yamltree import Mapping
from engine.records.hints import ModelHints
from engine.records.policies import Policies

KEYS = ("name", "description", "clock", "seed", "policies", "models", "prompts", "places", "entities", "lore")
_MAX_SEED = 2**53


@dataclass(frozen=True, slots=True)
class Header:
    """What `world.yaml` says about the world as a whole."""

    name: str
    description: str
    start: datetime
    seed: int
    policies: Policies
    hints: ModelHints

    @classmethod
    def unknown(cls) -> "Header":
        """What to go on with when there is no header, so that the rest can still be checked."""
        return cls("", "", _latest(), 0, Policies(), ModelHints())


def read_header(fields: Fields, known: Known) -> Header:
    """The header, with stand-ins for what was reported."""
    name, description = fields.scalar("name", required=True), fields.scalar("description")
    return Header(
        name=known.verbatim(name, "name") if name else "",
        description=known.verbatim(description, "description", line=False) if description else "",
        start=_clock(fields, known),
        seed=fields.whole("seed", 0, _MAX_SEED, 0) or 0,
        policies=read_policies(fields, known),
        hints=read_hints(fields, known),
    )


def _clock(fields: Fields, known: Known) -> datetime:
    node = fields.get("clock")
    path, start = "clock", None
    if isinstance(node, Mapping):
        start, path = Fields(node, "clock", known.report, ("start",), "the clock").scalar("start", required=True), "clock.start"
    elif node is not None:
        start = scalar_of(node, "clock", known.report)
    else:
        fields.missing("clock", "write `clock: {start: 1247-03-01T17:40}`")
    if start is None:
        return _latest()
    try:
        return read_clock(start.text)
    except NotATimeError as error:
        known.report.add(start.mark, path, f"{quoted(start.text)} is {error}", error.hint)
        return _latest()


def _latest() -> datetime:
    """The start to go on with when there is none, so late that no memory is reported as later."""
    return datetime.max.replace(microsecond=0)
