"""`world.yaml` apart from its sections: name, clock, seed, policies and what it suggests about models."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pydantic import ValidationError

from engine.files.fields import Fields, mapping_of, scalar_of
from engine.files.hints import read_hints
from engine.files.problems import quoted
from engine.files.references import Known
from engine.files.times import NotATimeError, read_clock
from engine.files.yamltree import Mapping, Scalar
from engine.records.base import Record
from engine.records.hints import ModelHints
from engine.records.policies import CompressionPolicy, HandoffPolicy, Policies, RecallPolicy

KEYS = ("name", "description", "clock", "seed", "policies", "models", "prompts", "places", "entities", "lore")
_MAX_SEED = 2**53
_Policy = TypeVar("_Policy", bound=Record)


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
        policies=_policies(fields, known),
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


def _policies(fields: Fields, known: Known) -> Policies:
    node = fields.mapping("policies")
    if node is None:
        return Policies()
    policies = Fields(node, "policies", known.report, tuple(Policies.model_fields), "policies")
    return Policies(
        handoff=_policy(policies, "handoff", HandoffPolicy, known), recall=_policy(policies, "recall", RecallPolicy, known),
        compression=_policy(policies, "compression", CompressionPolicy, known),
    )


def _policy(policies: Fields, key: str, kind: type[_Policy], known: Known) -> _Policy:
    """One policy: numbers checked against the bounds of its record."""
    node = policies.get(key)
    found = mapping_of(node, policies.at(key), known.report) if node is not None else None
    if found is None:
        return kind()
    fields = Fields(found, policies.at(key), known.report, tuple(kind.model_fields), f"policy `{key}`")
    scalars = {name: scalar for name in kind.model_fields if (scalar := fields.scalar(name))}
    return _checked(kind, scalars, fields, known)


def _checked(kind: type[_Policy], scalars: dict[str, Scalar], fields: Fields, known: Known) -> _Policy:
    texts = {name: scalar.text for name, scalar in scalars.items()}
    for name, text in tuple(texts.items()):
        if text.strip().casefold().lstrip("+-") in ("nan", "inf", "infinity"):
            known.report.add(scalars[name].mark, fields.at(name), f"{quoted(text)} is not a number")
            del texts[name]
    try:
        return kind.model_validate(texts)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_context=False):
            name = str(fault["loc"][0])
            message = fault["msg"].removeprefix("Input ").replace("a valid integer, unable to parse string as an integer", "a whole number")
            known.report.add(scalars[name].mark, fields.at(name), f"{quoted(scalars[name].text)} {message}")
        return kind()
