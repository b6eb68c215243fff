"""What a world's texts refer to: ids in lists, and `@bob` in prose, which becomes a reference token."""

import re
from dataclasses import dataclass, field

from engine.files.fields import MAX_LINE, MAX_TEXT
from engine.files.problems import Mark, Report, quoted
from engine.files.yamltree import Scalar
from engine.records.base import EntityId
from engine.records.clean import clean, one_line
from engine.records.tokens import token

_REFERENCE = re.compile(r"@@|(?<![\w@])@([^\W\d]\w*(?:-\w+)*)(?!@)")
"""`@bob` where no word stands before it, so that e-mail addresses are none; `@@` is a plain @."""
_TOKEN = "{{e:"


@dataclass(slots=True)
class Known:
    """Ids declared anywhere in the world, and what may be said of wrong ones."""

    report: Report
    places: dict[str, Mark] = field(default_factory=dict)
    entities: dict[EntityId, Mark] = field(default_factory=dict)
    factions: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    """Ids seen in what could not be read. Whoever refers to them is not wrong."""
    partial: bool = False
    """Some files or sections could not be read at all: an id that is not known may well be declared there."""

    def excused(self, *names: str) -> bool:
        """Whether it would be wrong to call one of the names unknown, or useless."""
        return self.partial or self.report.full or any(name in self.unread for name in names)

    def entity(self, scalar: Scalar, path: str) -> EntityId | None:
        """The entity whose id the text is."""
        return scalar.text if self._holds(scalar, path, "entity", self.entities, self.places) else None

    def place(self, scalar: Scalar, path: str) -> str | None:
        """The place whose id the text is."""
        return scalar.text if self._holds(scalar, path, "place", self.places, self.entities) else None

    def faction(self, scalar: Scalar, path: str) -> str | None:
        """The faction that some entity belongs to."""
        return scalar.text if self._holds(scalar, path, "faction", dict.fromkeys(self.factions), {}) else None

    def _holds(self, scalar: Scalar, path: str, what: str, right: dict[str, Mark] | dict[str, None], wrong: dict[str, Mark]) -> bool:
        text = scalar.text
        if text in right:
            return True
        if not self.excused(text):
            other = "place" if what == "entity" else "entity"
            hint = f"that is the id of a{'n' if other == 'entity' else ''} {other}" if text in wrong else self.report.near(text, right)
            if text.startswith("@") and text[1:] in right:
                hint = "ids stand without @ here"
            self.report.add(scalar.mark, path, f"no {what} {quoted(text)}", hint)
        return False

    def prose(self, scalar: Scalar, path: str, *, line: bool = False) -> str:
        """The cleaned text with tokens for its references. `line`: on one line, no longer than such texts may be."""
        text = self._bounded(scalar, path, line=line)
        seen: dict[str, int] = {}

        def resolve(match: re.Match[str]) -> str:
            name = match.group(1)
            if name is None:
                return "@"
            nth = seen[name] = seen.get(name, -1) + 1
            if name in self.entities:
                return token(name)
            head = name.split("-")[0]  # `@bob-like`: a hyphen may belong to the id or to the prose
            if head != name and head in self.entities:
                return token(head) + name[len(head) :]
            if not self.excused(name, head):
                hint = "places are named in plain words" if name in self.places else self.report.near(name, self.entities)
                self.report.add(scalar.locate(f"@{name}", nth), path, f"no entity {quoted('@' + name)}", hint or "for a plain @ write @@")
            return match.group()

        return _REFERENCE.sub(resolve, text)

    def verbatim(self, scalar: Scalar, path: str, *, line: bool = True) -> str:
        """The cleaned text of speech, names and labels, which hold words only: a reference to an entity in it is reported."""
        text = self._bounded(scalar, path, line=line)
        for match in _REFERENCE.finditer(text):
            if match.group(1) in self.entities and not self.report.full:
                hint = "write the words as they are said or read"
                self.report.add(scalar.locate(match.group()), path, f"no references can stand here: {quoted(match.group())}", hint)
        return _REFERENCE.sub(lambda match: "@" if match.group() == "@@" else match.group(), text)

    def _bounded(self, scalar: Scalar, path: str, *, line: bool) -> str:
        text = one_line(scalar.text) if line else clean(scalar.text).strip()
        limit = MAX_LINE if line else MAX_TEXT
        if len(text) > limit:
            self.report.add(scalar.mark, path, f"longer than {limit} characters")
            text = text[:limit]
        if _TOKEN in text:
            self.report.add(scalar.locate("{{e"), path, f"a text cannot hold {quoted(_TOKEN)}", "write @ and an id to refer to an entity")
            text = text.replace(_TOKEN, "")
        lost = scalar.swallowed()
        if lost:
            at = scalar.source.near(scalar.mark, scalar.start, scalar.end)
            self.report.add(at, path, f"{quoted(lost)} is read as a comment", "put the text in quotes")
        return text
