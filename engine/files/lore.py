"""Pieces of authored knowledge."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Literal, TypeVar, cast

from engine.files.fields import Fields
from engine.files.items import Item
from engine.files.problems import quoted
from engine.files.references import Known
from engine.files.times import NotATimeError, read_later, read_span
from engine.records.authored import LoreItem

_KEYS = ("id", "text", "keys", "constant", "scope", "holders", "from", "until", "stays", "rests")
_SCOPES = ("world", "faction", "entity")

T = TypeVar("T")


def read_lore(items: Sequence[Item], start: datetime, known: Known) -> tuple[LoreItem, ...]:
    """All lore in the order it was written, of a world that begins at `start`."""
    found = []
    for item in items:
        fields = Fields(item.node, item.path, known.report, _KEYS, "lore")
        text = fields.scalar("text", required=True)
        scope = fields.choice("scope", _SCOPES, "world", wrong="")
        holders = _holders(scope, fields, known)
        keys = tuple(dict.fromkeys(known.verbatim(scalar, path) for path, scalar in fields.texts("keys")))
        content = known.prose(text, fields.at("text")) if text else ""
        constant = fields.flag("constant")
        since, until = (_time(key, fields, lambda text: read_later(text, start)) for key in ("from", "until"))
        if since and until and until <= since:
            fields.report.add(fields.mark("until"), fields.at("until"), "it ends before it begins", "give a time later than that of `from`")
        stays, rests = (_time(key, fields, read_span) or timedelta() for key in ("stays", "rests"))
        if content and scope:
            scoped = cast(Literal["world", "faction", "entity"], scope)
            found.append(
                LoreItem(
                    id=item.id, text=content, keys=keys, constant=constant, scope=scoped, holders=holders, since=since, until=until,
                    stays=stays, rests=rests,
                )
            )
    return tuple(found)


def _time(key: str, fields: Fields, read: Callable[[str], T]) -> T | None:
    scalar = fields.scalar(key)
    if scalar is None:
        return None
    try:
        return read(scalar.text)
    except NotATimeError as error:
        fields.report.add(scalar.mark, fields.at(key), f"{quoted(scalar.text)}: {error}", error.hint)
        return None


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
