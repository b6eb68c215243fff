"""`policies` of a world: what it sets about memory, checked against the bounds of the records."""

from typing import TypeVar

from pydantic import ValidationError

from engine.files.fields import Fields, mapping_of
from engine.files.problems import quoted
from engine.files.references import Known
from engine.files.yamltree import Scalar
from engine.records.base import EntityId, Record
from engine.records.clean import one_line
from engine.records.knowledge import LifecyclePolicy, PromotionPolicy
from engine.records.policies import CompressionPolicy, HandoffPolicy, Policies, RecallPolicy
from engine.records.sessions import CollapsePolicy, SessionPolicy

_Policy = TypeVar("_Policy", bound=Record)


def read_policies(fields: Fields, known: Known) -> Policies:
    """All policies of a world: what it does not set has its default."""
    node = fields.mapping("policies")
    if node is None:
        return Policies()
    policies = Fields(node, "policies", known.report, tuple(Policies.model_fields), "policies")
    return Policies(
        handoff=_policy(policies, "handoff", HandoffPolicy(), known), recall=_policy(policies, "recall", RecallPolicy(), known),
        compression=_policy(policies, "compression", CompressionPolicy(), known), sessions=_sessions(policies, known),
        promotion=_policy(policies, "promotion", PromotionPolicy(), known),
        lifecycle=_policy(policies, "lifecycle", LifecyclePolicy(), known),
    )


def _sessions(policies: Fields, known: Known) -> SessionPolicy:
    """Which pairs have sessions and how those end; what an agent's own policy does not say is as for all."""
    node = policies.mapping("sessions")
    if node is None:
        return SessionPolicy()
    fields = Fields(node, policies.at("sessions"), known.report, tuple(SessionPolicy.model_fields), "policy `sessions`")
    collapse = _policy(fields, "collapse", CollapsePolicy(), known)
    pairs = fields.choice("pairs", ("player", "all", "none"), SessionPolicy().pairs)
    return SessionPolicy.model_validate({"pairs": pairs, "collapse": collapse, "agents": _agents(fields, collapse, known)})


def _agents(fields: Fields, collapse: CollapsePolicy, known: Known) -> dict[EntityId, CollapsePolicy]:
    node = fields.mapping("agents")
    if node is None:
        return {}
    path, found = fields.at("agents"), dict[EntityId, CollapsePolicy]()
    agents = Fields(node, path, known.report, tuple(node.entries), "the agents")
    for name, (key, _) in node.entries.items():
        agent = known.entity(key, f"{path}.{name}")
        policy = _policy(agents, name, collapse, known)
        if agent is not None:
            found[agent] = policy
    return found


def _policy(policies: Fields, key: str, default: _Policy, known: Known) -> _Policy:
    """One policy: values checked against the bounds of its record, the rest as in `default`."""
    node = policies.get(key)
    found = mapping_of(node, policies.at(key), known.report) if node is not None else None
    if found is None:
        return default
    fields = Fields(found, policies.at(key), known.report, tuple(type(default).model_fields), f"policy `{key}`")
    lists = {name for name in type(default).model_fields if isinstance(getattr(default, name), tuple)}
    scalars = {name: scalar for name in type(default).model_fields if name not in lists and (scalar := fields.scalar(name))}
    words = {name: tuple(one_line(scalar.text) for _, scalar in fields.texts(name)) for name in lists if fields.get(name)}
    return _checked(default, scalars, words, fields, known)


def _checked(
    default: _Policy, scalars: dict[str, Scalar], words: dict[str, tuple[str, ...]], fields: Fields, known: Known
) -> _Policy:
    texts = {name: scalar.text for name, scalar in scalars.items()}
    for name, text in tuple(texts.items()):
        if text.strip().casefold().lstrip("+-") in ("nan", "inf", "infinity"):
            known.report.add(scalars[name].mark, fields.at(name), f"{quoted(text)} is not a number")
            del texts[name]
    try:
        return type(default).model_validate({**default.model_dump(), **texts, **words})
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_context=False):
            name = str(fault["loc"][0])
            message = fault["msg"].removeprefix("Input ").replace("a valid integer, unable to parse string as an integer", "a whole number")
            known.report.add(scalars[name].mark, fields.at(name), f"{quoted(scalars[name].text)} {message}")
        return default
