"""Pieces of authored knowledge."""

from collections.abc import Sequence
from typing import Literal, cast

from engine.files.fields import Fields
from engine.files.items import Item
from engine.files.references import Known
from engine.records.authored import LoreItem

_KEYS = ("id", "text", "keys", "constant", "scope", "holders")
_SCOPES = ("world", "faction", "entity")


def read_lore(items: Sequence[Item], known: Known) -> tuple[LoreItem, ...]:
    """All lore in the order it was written."""
    found = []
    for item in items:
        fields = Fields(item.node, item.path, known.report, _KEYS, "lore")
        text = fields.scalar("text", required=True)
        scope = fields.choice("scope", _SCOPES, "world", wrong="")
        holders = _holders(scope, fields, known)
        keys = tuple(dict.fromkeys(known.verbatim(scalar, path) for path, scalar in fields.texts("keys")))
        content = known.prose(text, fields.at("text")) if text else ""
        constant = fields.flag("constant")
        if content and scope:
            scoped = cast(Literal["world", "faction", "entity"], scope)
            found.append(LoreItem(id=item.id, text=content, keys=keys, constant=constant, scope=scoped, holders=holders))
    return tuple(found)


def _holders(scope: str, fields: Fields, known: Known) -> tuple[str, ...]:
    if not scope:
        return ()
    written = list(fields.texts("holders"))
    if scope == "world":
        if written:
            hint = "set `scope: entity` or `scope: faction`, or leave out `holders`"
            known.report.add(fields.mark("holders"), fields.at("holders"), "everybody holds lore of the world", hint)
        return ()
    if fields.get("holders") is None:
        fields.missing("holders", f"lore of scope `{scope}` needs a list of who knows it")
    look = known.faction if scope == "faction" else known.entity
    return tuple(dict.fromkeys(found for path, scalar in written if (found := look(scalar, path))))
