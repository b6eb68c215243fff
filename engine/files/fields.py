"""Reading one map of a world file: each field asked for by name and kind, everything wrong reported, nothing raised."""

from collections.abc import Iterator, Sequence

from engine.files import yamltree
from engine.files.problems import Mark, Report, meant, near, quoted
from engine.files.yamltree import Mapping, Node, Scalar
from engine.records.clean import clean

Hints = dict[str, str]
"""What to do about keys that are often written in the wrong place."""
MAX_TEXT = 20_000
"""Characters of a long text."""
MAX_LINE = 400
"""Characters of a name, goal, alias and other texts of one line."""
_KINDS = {Scalar: "a text", yamltree.Sequence: "a list", Mapping: "a map with keys"}
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def empty(node: Node) -> bool:
    """Whether nothing was written after the key."""
    return isinstance(node, Scalar) and node.plain and not node.text


def shown(node: Node) -> str:
    """A value as a message names it."""
    if not isinstance(node, Scalar):
        return _KINDS[type(node)]
    return quoted(node.text) if node.text.strip() else "nothing"


class Fields:
    """The fields of one item. Unknown keys are reported with near names when it is made."""

    def __init__(
        self, node: Mapping, path: str, report: Report, known: Sequence[str], what: str, hints: Hints | None = None
    ) -> None:
        self.node, self.path, self.report = node, path, report
        self._misspelt: set[str] = set()
        for key, (scalar, _) in node.entries.items():
            if key not in known:
                alike = [] if report.full else near(key, known)
                self._misspelt.update(alike)
                hint = (hints or {}).get(key) or meant(alike) or f"{what} has: {', '.join(known)}"
                report.add(scalar.mark, self.at(key), f"{what} has no key {quoted(key)}", hint)

    def at(self, key: str) -> str:
        """The path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def get(self, key: str) -> Node | None:
        """The value as written; None when the key is absent or nothing follows it."""
        found = self.node.entries.get(key)
        return None if found is None or empty(found[1]) else found[1]

    def mark(self, key: str) -> Mark:
        """Where the value stands, or the item when the key is absent."""
        found = self.node.entries.get(key)
        return found[1].mark if found else self.node.mark

    def missing(self, key: str, hint: str = "") -> None:
        """Report that a field which has to be there is not, unless another was reported that is probably meant to be it."""
        if key in self.node.entries:
            self.report.add(self.mark(key), self.at(key), f"{quoted(key)} is empty", hint)
        elif not self.misspelt(key):
            self.report.add(self.node.mark, self.at(key), f"{quoted(key)} is missing", hint)

    def misspelt(self, key: str) -> bool:
        """Whether an unknown key was reported that looks like this one."""
        return key in self._misspelt

    def scalar(self, key: str, *, required: bool = False) -> Scalar | None:
        """The field as a text with its position. An empty one is as good as none."""
        node = self.get(key)
        if node is None:
            if required:
                self.missing(key)
            return None
        found = scalar_of(node, self.at(key), self.report)
        if found and required and not clean(found.text).strip():
            self.report.add(found.mark, self.at(key), f"{quoted(key)} is empty")
            return None
        return found

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int | None:
        """A whole number from `low` to `high`."""
        scalar = self.scalar(key)
        if scalar is None:
            return default
        number = whole_number(scalar.text)
        if number is None or not low <= number <= high:
            self.report.add(scalar.mark, self.at(key), f"{quoted(scalar.text)} is not a whole number from {low} to {high}")
            return default
        return number

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        scalar = self.scalar(key)
        if scalar is None:
            return default
        if scalar.text.casefold() not in _TRUTH:
            self.report.add(scalar.mark, self.at(key), f"{quoted(scalar.text)} is neither true nor false")
        return _TRUTH.get(scalar.text.casefold(), default)

    def choice(self, key: str, options: Sequence[str], default: str, *, wrong: str | None = None) -> str:
        """One of a few words. Any other is reported and counts as `wrong`, or as the default."""
        scalar = self.scalar(key)
        if scalar is None:
            return default
        if scalar.text not in options:
            hint = self.report.near(scalar.text, options) or f"one of: {', '.join(options)}"
            self.report.add(scalar.mark, self.at(key), f"{quoted(scalar.text)} is no {key}", hint)
            return default if wrong is None else wrong
        return scalar.text

    def mapping(self, key: str) -> Mapping | None:
        """The field as a map."""
        node = self.get(key)
        return mapping_of(node, self.at(key), self.report) if node is not None else None

    def items(self, key: str) -> Iterator[tuple[str, Node]]:
        """The members of a list with their paths. A single text counts as a list of one."""
        node = self.get(key)
        if isinstance(node, yamltree.Sequence):
            for number, item in enumerate(node.items, 1):
                yield f"{self.at(key)}[{number}]", item
        elif isinstance(node, Scalar):
            if not node.broken:
                yield self.at(key), node
        elif node is not None:
            self.report.add(node.mark, self.at(key), f"{quoted(key)} should be a list, this is {shown(node)}", "begin each item with `- `")

    def texts(self, key: str) -> Iterator[tuple[str, Scalar]]:
        """The members of a list of texts, empty ones reported."""
        for path, node in self.items(key):
            scalar = scalar_of(node, path, self.report)
            if scalar and not clean(scalar.text).strip():
                self.report.add(scalar.mark, path, "an item is empty")
            elif scalar:
                yield path, scalar

    def maps(self, key: str) -> Iterator[tuple[str, Mapping]]:
        """The members of a list of maps."""
        for path, node in self.items(key):
            found = mapping_of(node, path, self.report)
            if found:
                yield path, found


def scalar_of(node: Node, path: str, report: Report) -> Scalar | None:
    """The node as a text; None after reporting that it is none, and for what was refused before."""
    if isinstance(node, Scalar):
        return None if node.broken else node
    hint = "put a text that begins with { or [ in quotes"
    report.add(node.mark, path, f"should be a text, this is {shown(node)}", hint)
    return None


def mapping_of(node: Node, path: str, report: Report) -> Mapping | None:
    """The node as a map; None after reporting that it is none."""
    if isinstance(node, Mapping):
        return node
    if not (isinstance(node, Scalar) and node.broken):
        report.add(node.mark, path, f"should be a map with keys, this is {shown(node)}", "write `key: value` lines")
    return None


def whole_number(text: str) -> int | None:
    """The whole number that a text spells in plain digits, or None."""
    text = text.strip()
    digits = text.removeprefix("-").removeprefix("+")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None
