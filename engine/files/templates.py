"""A world's own templates: files in `prompts/`, or the key `prompts` in `world.yaml`."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, cast

from engine.files.fields import Fields
from engine.files.problems import Mark, quoted
from engine.files.references import Known
from engine.files.yamltree import Scalar, Source
from engine.records.prompts import is_heading
from engine.records.templates import PARTS, Kind, Template, parts_of

_KINDS: Final = tuple(PARTS)
_VERSION = re.compile(r"[a-z0-9-]{1,40}")
_FORM: Final = "small letters, digits and -, at most 40: `harbour-1`"


class _Written(NamedTuple):
    """One template as written."""

    kind: Kind
    version: str
    text: Scalar
    mark: Mark
    """Where its kind and version stand."""
    path: str


def read_templates(fields: Fields | None, files: Sequence[tuple[str, Source]], known: Known) -> dict[Kind, Template]:
    """The templates that a world has of its own, without those that were reported. `files` are names and texts."""
    found: dict[Kind, _Written] = {}
    templates: dict[Kind, Template] = {}
    for one in (*_in_head(fields, known), *_in_files(files, known)):
        first = found.setdefault(one.kind, one)
        if first is not one:
            where = f"first in {first.mark.file}, line {first.mark.line}, column {first.mark.column}"
            known.report.add(one.mark, one.path, f"the template `{one.kind}` stands twice", where)
        elif (template := _checked(one, known)) is not None:
            templates[one.kind] = template
    return templates


def _in_head(fields: Fields | None, known: Known) -> Iterator[_Written]:
    node = fields.mapping("prompts") if fields is not None else None
    if node is None:
        return
    prompts = Fields(node, "prompts", known.report, _KINDS, "`prompts`")
    for kind in _KINDS:
        entry = prompts.mapping(kind)
        if entry is None:
            continue
        one = Fields(entry, prompts.at(kind), known.report, ("version", "text"), "a template")
        version, text = one.scalar("version", required=True), one.scalar("text", required=True)
        if version is not None and text is not None and _is_version(version.text, version.mark, one.at("version"), known):
            yield _Written(kind, version.text, text, version.mark, prompts.at(kind))


def _in_files(files: Sequence[tuple[str, Source]], known: Known) -> Iterator[_Written]:
    for name, source in files:
        mark = source.mark(0)
        kind, _, version = name.removesuffix(".txt").partition(".")
        if kind not in PARTS:
            hint = known.report.near(kind, _KINDS) or f"named for one of: {', '.join(_KINDS)}"
            known.report.add(mark, "prompts", f"no template is called {quoted(kind)}", hint)
        elif not version:
            known.report.add(mark, "prompts", "a template's file has a version in its name", f"`{kind}.harbour-1.txt`")
        elif _is_version(version, mark, f"prompts.{kind}", known):
            text = Scalar(source.text, mark, source, 0, len(source.text), plain=False)
            yield _Written(cast(Kind, kind), version, text, mark, f"prompts.{kind}")


def _is_version(text: str, mark: Mark, path: str, known: Known) -> bool:
    """Whether a version can be told apart from all others; reported if not."""
    if not _VERSION.fullmatch(text):
        known.report.add(mark, path, f"{quoted(text)} cannot be a version", _FORM)
    elif text.isdigit():
        known.report.add(mark, path, f"version {quoted(text)} may be one of the program's own", "put a word before it: `harbour-1`")
    else:
        return True
    return False


def _checked(one: _Written, known: Known) -> Template | None:
    """The template, cleaned; None after reporting why a prompt cannot be made of it."""
    before = len(known.report)
    parts, wanted = parts_of(known.verbatim(one.text, one.path, line=False)), PARTS[one.kind]
    for line in dict.fromkeys(line.strip() for part in parts for line in part.split("\n") if is_heading(line.strip())):
        hint = "lines like this part the sections of a prompt: write it without ==="
        known.report.add(one.text.locate(line), one.path, f"{quoted(line)} looks like the heading of a section", hint)
    if not any(parts):
        known.report.add(one.text.mark, one.path, "the template is empty", f"it consists of: {'; '.join(wanted)}")
    elif len(parts) != len(wanted):
        count = "1 part" if len(parts) == 1 else f"{len(parts)} parts"
        hint = f"it consists of {'; '.join(wanted)}; parts are divided by lines of `---`"
        known.report.add(one.text.mark, one.path, f"{count} in a template that has {len(wanted)}", hint)
    else:
        for part, what in zip(parts, wanted, strict=True):
            if not part:
                known.report.add(one.text.mark, one.path, f"the part that says {what} is empty", "parts are divided by lines of `---`")
    return Template(name=f"{one.kind}.{one.version}", parts=parts) if len(known.report) == before else None
