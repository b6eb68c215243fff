"""Attributes as authored, and who may know them.

A short form `label: the wet stranger` is public for `label`, `appearance` and `status`, and known to its owner alone for all
other attributes of an entity. Attributes of places are public unless they say otherwise.
"""

from engine.files.fields import Fields, scalar_of
from engine.files.problems import quoted
from engine.files.references import Known
from engine.files.yamltree import Mapping, Node, Scalar
from engine.records.base import EntityId
from engine.records.clean import one_line
from engine.records.world import Attribute

_OPEN = frozenset({"label", "appearance", "status"})
"""Public when nothing is said."""
_VERBATIM = frozenset({"name", "label", "appearance"})
"""What others see or are called: words only, no references."""
_STATUS = ("awake", "asleep", "unconscious", "dead", "inactive")
_LIGHT = ("dark", "dim", "bright")
_MAX_NAME = 60


def entity_attributes(owner: EntityId, fields: Fields, known: Known) -> dict[str, Attribute]:
    """The attributes of an entity."""
    found: dict[str, Attribute] = {}
    node = fields.mapping("attributes")
    for key, (scalar, value) in (node.entries if node else {}).items():
        path = f"{fields.at('attributes')}.{key}"
        name = _name(scalar, path, known)
        default = (True, ()) if name in _OPEN else (False, (owner,))
        attribute = _attribute(name, value, path, known, default)
        if attribute:
            found[name] = attribute
    return found


def place_attributes(fields: Fields, known: Known) -> dict[str, Attribute]:
    """The attributes of a place; `light: dark` may stand beside its name."""
    found: dict[str, Attribute] = {}
    node = fields.mapping("attributes")
    for key, (scalar, value) in (node.entries if node else {}).items():
        path = f"{fields.at('attributes')}.{key}"
        name = _name(scalar, path, known)
        attribute = _attribute(name, value, path, known, (True, ()))
        if attribute:
            found[name] = attribute
    light = fields.choice("light", _LIGHT, "")
    if light:
        found["light"] = Attribute(name="light", value=light, public=True)
    return found


def _name(scalar: Scalar, path: str, known: Known) -> str:
    name = one_line(scalar.text)
    if len(name) > _MAX_NAME:
        known.report.add(scalar.mark, path, f"an attribute's name is longer than {_MAX_NAME} characters")
    return name or scalar.text


def _attribute(
    name: str, node: Node, path: str, known: Known, default: tuple[bool, tuple[EntityId, ...]]
) -> Attribute | None:
    public, known_to = default
    value: Scalar | None
    if isinstance(node, Mapping):
        fields = Fields(node, path, known.report, ("value", "visible"), "an attribute")
        value = fields.scalar("value", required=True)
        at = fields.at("value")
        if "visible" in node.entries:
            public, known_to = _access(fields, known)
    else:
        value, at = scalar_of(node, path, known.report), path
        if value and not one_line(value.text):
            known.report.add(value.mark, path, "an attribute is empty", "leave it out, or give it a value")
            return None
    if value is None:
        return None
    if name == "status" and value.text not in _STATUS:
        hint = known.report.near(value.text, _STATUS) or f"one of: {', '.join(_STATUS)}"
        known.report.add(value.mark, at, f"{quoted(value.text)} is no status", hint)
    text = known.verbatim(value, at) if name in _VERBATIM else known.prose(value, at)
    return Attribute(name=name, value=text, public=public, known_to=known_to)


def _access(fields: Fields, known: Known) -> tuple[bool, tuple[EntityId, ...]]:
    node = fields.get("visible")
    if node is None:
        hint = "public, a list of ids, or [] for nobody but the narrator"
        fields.missing("visible", hint)
        return False, ()
    if isinstance(node, Scalar) and node.text == "public":
        return True, ()
    if isinstance(node, Scalar) and not node.broken and node.text not in known.entities and not known.excused(node.text):
        hint = known.report.near(node.text, ["public", *known.entities]) or "public, a list of ids, or [] for nobody but the narrator"
        fields.report.add(node.mark, fields.at("visible"), f"{quoted(node.text)} is neither `public` nor an entity", hint)
        return False, ()
    viewers = [known.entity(scalar, path) for path, scalar in fields.texts("visible")]
    return False, tuple(dict.fromkeys(viewer for viewer in viewers if viewer))
