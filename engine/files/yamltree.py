"""YAML as a tree of authors' texts with positions.

Nodes are put together from the parser's events and never constructed, so that `no`, `1.10`, `12:30` and dates stay what was
typed. What makes YAML dangerous or surprising is refused: anchors, aliases, tags, merge keys, a second document, duplicate
keys. Size, depth and number of nodes are bounded, and nothing here recurses.
"""

import re
from dataclasses import dataclass, field
from itertools import islice

import yaml

from engine.files.problems import Mark, Report, quoted

MAX_DEPTH = 24
MAX_NODES = 100_000
"""Nodes in one file."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ILLEGAL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FOREIGN_BREAKS = str.maketrans({"\x85": " ", "\u2028": " ", "\u2029": " "})
_SWALLOWED = re.compile(r"[ \t]+(#[^\s#!][^\n]*)")
_TRAP = re.compile(r"""^\s*(?:-\s+)*(?:[\w. -]+:\s+)?(?P<start>[*{\[@%&!`"'|>?])""")
_COLON = re.compile(r"^\s*(?:-\s+)*[\w. -]+:\s+[^\s'\"|>{\[][^#]*:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Source:
    """One file's text."""

    name: str
    """As shown in problems."""
    text: str

    def mark(self, index: int) -> Mark:
        """The position of the character at `index`."""
        before = self.text.rfind("\n", 0, index)
        return Mark(file=self.name, line=self.text.count("\n", 0, index) + 1, column=index - before)

    def near(self, known: Mark, start: int, index: int) -> Mark:
        """The position of `index`, given that of `start` not far before it: large files need no second reading."""
        lines = self.text.count("\n", start, index)
        column = index - self.text.rfind("\n", start, index) if lines else known.column + index - start
        return Mark(file=self.name, line=known.line + lines, column=column)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text as typed, white space folded as YAML says."""

    text: str
    mark: Mark
    source: Source
    start: int
    end: int
    """Where it stands in the source, quotes included."""
    plain: bool = True
    """Written without quotes and not as a block."""
    broken: bool = False
    """Something here was refused already: whoever reads it says nothing more."""

    def locate(self, fragment: str, nth: int = 0) -> Mark:
        """Where the nth (from 0) `fragment`, no word character after it, stands in the file; the start when escapes hide it."""
        found = re.compile(re.escape(fragment) + r"(?!\w)").finditer(self.source.text, self.start, self.end)
        match = next(islice(found, nth, None), None)
        return self.source.near(self.mark, self.start, match.start()) if match else self.mark

    def swallowed(self) -> str:
        """What YAML took for a comment though it looks like text: `room #4` is read as `room`."""
        found = _SWALLOWED.match(self.source.text, self.end) if self.plain and self.text else None
        return found.group(1) if found else ""


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    mark: Mark
    items: list["Node"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys with values, in file order, each key once."""

    mark: Mark
    entries: dict[str, tuple[Scalar, "Node"]] = field(default_factory=dict)


Node = Scalar | Sequence | Mapping


class _RefusedError(Exception):
    """The file breaks a bound: reading it any further is pointless."""


class _Composer:
    """Builds one file's tree from parser events, with a stack of its own."""

    def __init__(self, source: Source, report: Report) -> None:
        self._source = source
        self._report = report
        self._stack: list[Sequence | Mapping] = []
        self._keys: list[Scalar | None] = []
        self._nodes = 0
        self.root: Node | None = None

    def feed(self, event: yaml.Event) -> None:
        """Take the next event. Raises `_RefusedError`."""
        if isinstance(event, yaml.ScalarEvent):
            self._properties(event, event.tag)
            self._place(self._scalar(event, event.value, plain=not event.style))
        elif isinstance(event, yaml.AliasEvent):
            hint = "write the text out, in quotes if it begins with *"
            self._say(event, f"aliases are not read: {quoted('*' + str(event.anchor))}", hint)
            self._place(self._scalar(event, "", plain=True, broken=True))
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self._properties(event, event.tag)
            mark = self._mark(event)
            opened: Sequence | Mapping = Sequence(mark) if isinstance(event, yaml.SequenceStartEvent) else Mapping(mark)
            self._place(opened)
            self._stack.append(opened)
            self._keys.append(None)
            if len(self._stack) > MAX_DEPTH:
                self._say(event, f"nested deeper than {MAX_DEPTH} levels")
                raise _RefusedError
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self._stack.pop()
            self._keys.pop()
        elif isinstance(event, yaml.DocumentStartEvent):
            if self.root is not None:
                self._say(event, "a second document begins here", "remove the line `---`; one file holds one document")
                raise _RefusedError
            if event.tags:
                self._say(event, "tag directives are not read", "remove the line that begins with `%TAG`")

    def _place(self, node: Node) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._report.add(node.mark, "", f"more than {MAX_NODES} values in one file", "split it into several files")
            raise _RefusedError
        if not self._stack:
            self.root = node
            return
        parent = self._stack[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
            return
        key = self._keys[-1]
        if key is None:
            self._keys[-1] = self._key(node)
            return
        self._keys[-1] = None
        if key.broken:
            return
        known = parent.entries.get(key.text)
        if known:
            where = f"first on line {known[0].mark.line}, column {known[0].mark.column}"
            self._report.add(key.mark, "", f"the key {quoted(key.text)} stands twice", where)
        else:
            parent.entries[key.text] = (key, node)

    def _key(self, node: Node) -> Scalar:
        if not isinstance(node, Scalar):
            self._report.add(node.mark, "", "a list or a map cannot be a key", "put the text in quotes if it begins with { or [")
            return Scalar("", node.mark, self._source, 0, 0, broken=True)
        if node.broken:
            return node
        if node.plain and node.text == "<<":
            self._report.add(node.mark, "", "merge keys are not read: `<<`", "write the values out")
        elif not node.text.strip():
            self._report.add(node.mark, "", "a key is empty")
        else:
            return node
        return Scalar("", node.mark, self._source, 0, 0, broken=True)

    def _properties(self, event: yaml.NodeEvent, tag: str | None) -> None:
        if event.anchor:
            self._say(event, f"anchors are not read: {quoted('&' + str(event.anchor))}", "put the text in quotes if it begins with &")
        if tag:
            self._say(event, f"tags are not read: {quoted(tag)}", "put the text in quotes if it begins with !")

    def _scalar(self, event: yaml.Event, text: str, *, plain: bool, broken: bool = False) -> Scalar:
        start, end = (mark.index if mark else 0 for mark in (event.start_mark, event.end_mark))
        return Scalar(text, self._mark(event), self._source, start, end, plain, broken)

    def _mark(self, event: yaml.Event) -> Mark:
        at = event.start_mark
        return Mark(file=self._source.name, line=at.line + 1 if at else 1, column=at.column + 1 if at else 1)

    def _say(self, event: yaml.Event, message: str, hint: str = "") -> None:
        self._report.add(self._mark(event), "", message, hint)


def compose(source: Source, report: Report) -> Node | None:
    """The tree of one file, or None after reporting why there is none. An empty file is a problem too."""
    illegal = _ILLEGAL.search(source.text)
    if illegal:
        code = f"U+{ord(illegal.group()):04X}"
        report.add(source.mark(illegal.start()), "", f"a character that cannot stand in a file: {code}", "remove it")
        return None
    source = Source(source.name, source.text.translate(_FOREIGN_BREAKS))
    own = Report()
    composer, complete, broken = _Composer(source, own), False, 0
    try:
        for event in yaml.parse(source.text, Loader=_LOADER):
            composer.feed(event)
        complete = True
    except _RefusedError:
        pass
    except yaml.MarkedYAMLError as error:
        broken = _syntax(source, error, report)
    except yaml.YAMLError as error:
        report.add(source.mark(0), "", f"not YAML: {quoted(str(error), 120)}")
    if complete and composer.root is None:
        own.add(source.mark(0), "", "the file is empty")
    report.take(own, but_line=broken)  # `*She smiles*` is one mistake, though it looks like an alias and then like nothing at all
    return composer.root if complete else None


def _syntax(source: Source, error: yaml.MarkedYAMLError, report: Report) -> int:
    """Report a parser's complaint in an author's words; returns the line it is about."""
    spot = error.problem_mark or error.context_mark
    if spot is None:
        report.add(source.mark(0), "", f"not YAML: {quoted(str(error), 120)}")
        return 1
    lines = source.text.split("\n")
    line = lines[spot.line] if spot.line < len(lines) else ""
    mark = Mark(file=source.name, line=spot.line + 1, column=spot.column + 1)
    detail = error.problem or error.context or "this cannot be read"
    report.add(mark, "", f"not YAML: {detail}" + (f", at {quoted(line)}" if line.strip() else ""), _advice(line, detail))
    return mark.line


def _advice(line: str, detail: str) -> str:
    """What to change in a line that YAML stumbles over."""
    if line.lstrip(" ").startswith("\t") or ("\t" in line and "start any token" in detail):
        return "indent with spaces, not with tabs"
    line = line[:300]
    trap = _TRAP.match(line)
    if trap and trap["start"] not in "|>":
        return f"a text that begins with {trap['start']} goes on its own lines after `|`"
    if _COLON.match(line) or "mapping values" in detail:
        return "a text with a colon goes in quotes, or on its own lines after `|`"
    return "write long or odd texts on their own lines after `|`, further to the right than their key"
