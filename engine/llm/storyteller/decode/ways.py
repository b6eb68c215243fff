"""Which way out a phrase means: by its door, by where it leads, by `upstairs` or `outside`."""

import re

from engine.llm.storyteller.language.roster import Roster, Way, way_names
from engine.llm.storyteller.language.text import bare

_UP = re.compile(r"\b(?:up|upstairs|aloft|stairs?|ladder)\b")
_DOWN = re.compile(r"\b(?:down|downstairs|below)\b")
_HIGH = re.compile(r"\b(?:loft|attic|gallery|upper|room|rooms|landing|tower|lamp|deck|roof|upstairs|bridge|chamber)\b")
_LOW = re.compile(r"\b(?:cellar|crypt|hold|hatch|lower|basement|vault|trap|cave|below|mine|beach|shore)\b")
_OUT = re.compile(
    r"\b(?:street|quay|yard|outside|lane|road|square|garden|front|harbour|market|field|deck|corridor|hall|path|gate|court|beach)\b"
)
_VAGUELY = re.compile(
    r"(?:$|out\b|outside\b|off\b|away\b|outdoors\b|the (?:room|house|inn|building|place|taproom|hall|bar|tavern|scene)\b)"
)
_STAIRS = re.compile(r"\b(?:stairs?|stairway|(?:the|up|down) steps|ladder|rungs)\b")


def find_way(phrase: str, roster: Roster, *, wanted: str = "", going: bool = False) -> Way | None:
    """The way a phrase names. `wanted` is the state that settles it when several would do: `shut`, `open`, `locked`.

    With `going`, the place a way leads to counts before its door, and `upstairs` and the like are understood.
    """
    text = phrase.casefold()
    ways = list(roster.ways)
    by_place = [way for way in ways if _says(text, bare(way.place).casefold())]
    by_door = [way for way in ways if _says(text, bare(way.door).casefold())]
    for found in (by_place, by_door) if going else (by_door, by_place):
        if found:
            return _settled(found, wanted)
    by_noun = [way for way in ways if any(noun and _says(text, noun) for noun in way_names(way))]
    if by_noun:
        return _settled(by_noun, wanted)
    if going and _STAIRS.search(text):
        found = [way for way in ways if _STAIRS.search(way.door.casefold())]
        if found:
            return found[0]
    if going and re.match(r"(?:up|upstairs|back up)\b", text):
        return _first(ways, _UP, _HIGH)
    if going and re.match(r"(?:down|downstairs|back down)\b", text):
        return _first(ways, _DOWN, _LOW)
    if re.search(r"\b(?:door|way out|exit|gate|hatch)\b", text):
        doors = [way for way in ways if re.search(r"door|gate|hatch", way.door.casefold())]
        return _settled(doors or ways, wanted) if doors or going else None
    return None


def way_outside(base: str, rest: str, roster: Roster) -> Way | None:
    """The way out of here when no other is named: `I leave`, `I step outside`."""
    if not _VAGUELY.match(rest) or not roster.ways or (base in ("walk", "run", "go", "step", "head", "slip", "hurry") and not rest):
        return None
    return _settled([way for way in roster.ways if _OUT.search(f"{way.door} {way.place}".casefold())] or list(roster.ways), "open")


def _says(text: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _first(ways: list[Way], door: re.Pattern[str], place: re.Pattern[str]) -> Way | None:
    by_door = (way for way in ways if door.search(way.door.casefold()))
    by_place = (way for way in ways if place.search(f"{way.door} {way.place}".casefold()))
    return next(by_door, None) or next(by_place, None)


def _settled(ways: list[Way], wanted: str) -> Way:
    """The one in the wanted state, else the first. An open way before a shut one when nothing is wanted."""
    states = {"shut": ("closed", "locked"), "locked": ("locked",), "open": ("open",), "unlocked": ("closed", "open"), "": ("open",)}
    return next((way for way in ways if way.state in states.get(wanted, ())), ways[0])
