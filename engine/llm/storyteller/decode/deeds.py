"""What kind of deed a predicate is, and on what: the verbs that rules can judge, everything else `other`."""

import re
from dataclasses import dataclass

from engine.llm.storyteller.decode.clauses import Predicate
from engine.llm.storyteller.decode.ways import find_way, way_outside
from engine.llm.storyteller.language.roster import Listed, Roster, Way, way_names
from engine.llm.storyteller.language.text import bare
from engine.llm.storyteller.phrases import words
from engine.records.intents import Verb

_KINDS = words("deeds")
_PORTAL_STATES: tuple[tuple[Verb, str], ...] = (("open", "shut"), ("close", "open"), ("unlock", "locked"), ("lock", "unlocked"))
"""Each deed to a way, and the state of the way it is likely meant for."""
_ONWARD = re.compile(
    r"^(?:to|into|towards?|through|out|outside|inside|down|up|upstairs|downstairs|back|away|over|across|off|in|on|for|past|along)\b"
)
_GROPING = ("about ", "for ", "to ", "along ", "in ", "inside ", "under ", "around ", "behind ")
"""After `feel`: it is done with the hands."""
_KEPT = r"(?:away|back|(?:in|into|inside|under|behind) (?:my|her|his|a|the) (?:pocket|coat|belt|sleeve|bag|apron|cloak|shirt|back))"
"""After `put the key`: it is not let go of."""
_SOMEWHERE = re.compile(r"(?:(?:down |up |out |back )?to|into|through|north|south|east|west|left|right|inland|seaward)\b")
_AWAY = re.compile(r"(?:my|her|his) way|out|off|through|away|into|past")
_NOT_WALKING = re.compile(r"(?:to (?:bed|sleep)|back to sleep|still|quiet|pale|silent|on|over)\b")
_TO_SLEEP = re.compile(r"\b(?:to|and) sleep\b|\b(?:to|into) bed\b|^down for the night")
_ASLEEP = re.compile(r"(?:asleep|off to sleep)")
_NAMED_LOOK = r"(?:(?:the|this|that|these|those|a|an|what|every|each|some|all) ?)?(?:P\d+|it|him|her|them|here|(?:[a-z'-]+ ){0,4}[a-z'-]+)"
_LOOKED = re.compile(
    r"(?:(?:(?:closely|carefully) )?(?:at|around|round|about|over|in|into|inside|under|behind|through|on|for)\b"
    rf"(?: {_NAMED_LOOK})?)?"
    r"(?:,? (?:closely|carefully|again|more closely))?"
)
_SEARCHED = re.compile(rf"{_NAMED_LOOK}(?:,? (?:closely|carefully|again))?")
_STILL = re.compile(r"(?:quite |very )?(?:still|quiet|silent|silence|motionless)\b")


@dataclass(frozen=True, slots=True)
class Deed:
    """A predicate understood."""

    verb: Verb
    targets: tuple[str, ...] = ()
    thought: bool = False
    """Not a deed at all: what is felt, known or wished."""


def classify(predicate: Predicate, roster: Roster, last_person: str, last_thing: str) -> Deed:
    """The deed of a predicate. `last_person` and `last_thing` are the handles that pronouns stand for."""
    base, rest = predicate.verb.base, predicate.rest
    handles = named(rest, roster, last_person, last_thing)
    if (predicate.modal and not predicate.negated) or (base == "be" and not predicate.negated) or _is_thought(base, rest):
        return Deed("other", (), thought=True)
    afar = base in _KINDS["from_afar"]
    plain = Deed("other", tuple(one.handle for one in handles if not (afar and one.beyond)))
    if predicate.negated or predicate.lead.startswith("stopped"):
        return plain
    things = [one for one in handles if one.thing]
    people = [one for one in handles if not one.thing]
    for attempt in (_portal, _going, _passing, _sensing, _resting):
        found = attempt(base, rest, things, people, roster)
        if found is not None:
            return found
    return plain


def named(text: str, roster: Roster, last_person: str = "", last_thing: str = "") -> list[Listed]:
    """The listed people and things a text with handles names, in order, pronouns included; never the actor."""
    found: list[str] = []
    for match in re.finditer(r"\bP\d+\b|\b(?:her|him|them|it)\b", text):
        word = match.group()
        if word in ("her", "him", "them"):
            word = last_person or (last_thing if word == "them" else "")
        elif word == "it":
            word = last_thing
        if word and word not in found:
            found.append(word)
    return [one for handle in found if (one := roster.get(handle)) and not one.me]


def _is_thought(base: str, rest: str) -> bool:
    if base in _KINDS["think_of"]:
        return bool(rest) and not rest.startswith(_GROPING)
    return base in _KINDS["think"]


def _portal(base: str, rest: str, things: list[Listed], people: list[Listed], roster: Roster) -> Deed | None:
    turned = re.search(r"\b(open|shut|closed|to)$", rest)
    if base in _KINDS["shift"] and turned:
        base, rest = ("open" if turned[1] == "open" else "close"), rest[: turned.start()]
    if base == "slam" and not rest:
        return None
    for verb, state in _PORTAL_STATES:
        if base in _KINDS[verb]:
            if things and not re.search(r"\bwith P\d+|\busing P\d+", rest) and rest.startswith(things[0].handle):
                return Deed("other", tuple(one.handle for one in things))
            way = find_way(rest, roster, wanted=state)
            return Deed(verb, (way.handle,)) if way else None
    return None


def _going(base: str, rest: str, things: list[Listed], people: list[Listed], roster: Roster) -> Deed | None:
    if base == "go" and not rest:
        return Deed("go")
    if base not in _KINDS["go"] or (base in ("make", "set", "slip", "pass") and (things or not _AWAY.match(rest))):
        return None
    if base == "leave" and things:
        return None
    rest = re.sub(r"^(?:my|her|his|their) way\s+", "", rest)
    if base == "go" and _NOT_WALKING.match(rest) and not find_way(rest, roster):
        return Deed("sleep") if re.match(r"(?:back )?to (?:bed|sleep)", rest) else None
    if base == "follow":
        beyond = next((one for one in people if one.beyond), None)
        way = next((way for way in roster.ways if beyond and way.place.casefold() == beyond.beyond.casefold()), None)
        return Deed("go", (way.handle,)) if way else None
    wanted = _ONWARD.match(rest) is not None or base in _KINDS["surely_go"]
    if not wanted and not (base == "cross" and rest):
        return None
    way = find_way(rest, roster, going=True)
    if way is None and base in _KINDS["leave"]:
        way = way_outside(base, rest, roster)
    if way is not None:
        return None if _up_to(rest, way) else Deed("go", (way.handle,))
    beyond = next((one for one in people if one.beyond), None)
    if beyond is not None:
        way = next((way for way in roster.ways if way.place.casefold() == beyond.beyond.casefold()), None)
        if way is not None:
            return Deed("go", (way.handle,))
    elsewhere = base in _KINDS["surely_go"] and not things and not people and _SOMEWHERE.match(rest)
    return Deed("go") if elsewhere else None


def _up_to(rest: str, way: Way) -> bool:
    """Whether somebody goes as far as a door and not through it."""
    place, door = bare(way.place).casefold(), way_names(way)[0]
    approach = rf"(?:over |back |up |down )?(?:to|towards?) (?:the )?(?:\w+ )?{re.escape(door)}\b"
    return bool(door) and place not in rest.casefold() and re.match(approach, rest) is not None


def _passing(base: str, rest: str, things: list[Listed], people: list[Listed], roster: Roster) -> Deed | None:
    held = next((one for one in things if one.carried), None)
    if base in _KINDS["give"] and people and things:
        thing = held or things[0]
        if re.search(rf"\bto {people[0].handle}\b|^(?:{people[0].handle}|her|him|them)\b", rest) or base in ("give", "hand"):
            return Deed("give", (thing.handle, people[0].handle))
    loose = next((one for one in things if not one.carried), None)
    if base in _KINDS["take"] and loose and _taken(base, rest, loose.handle):
        return Deed("take", (loose.handle, *(one.handle for one in people[:1])))
    if base in _KINDS["throw"] and held and not people:
        return Deed("drop", (held.handle,))
    if base in _KINDS["drop"] and held and re.match(rf"(?:down |aside )?(?:{held.handle}|it|them)\b(?! {_KEPT})", rest):
        return Deed("drop", (held.handle,))
    return None


def _taken(base: str, rest: str, handle: str) -> bool:
    if base == "pick":
        return rest.startswith("up ") or bool(re.search(r"\bup$", rest))
    if base == "get" and not rest.startswith((handle, "it")):
        return False
    return re.match(rf"(?:up |back |hold of |down )?(?:{handle}|it|them)\b", rest) is not None


def _sensing(base: str, rest: str, things: list[Listed], people: list[Listed], roster: Roster) -> Deed | None:
    if base not in _KINDS["look"] or (base == "search" and people):
        return None
    if not _LOOKED.fullmatch(rest) and not (base in _KINDS["examine"] and _SEARCHED.fullmatch(rest)):
        return None  # a way of looking, not a look at what is there to be seen
    if things or people:
        return Deed("look", tuple(one.handle for one in (*people, *things)))
    way = find_way(rest, roster)
    return Deed("look", (way.handle,) if way else ())


def _resting(base: str, rest: str, things: list[Listed], people: list[Listed], roster: Roster) -> Deed | None:
    if base in _KINDS["sleep"] or (base in ("fall", "drift") and _ASLEEP.match(rest)):
        return Deed("sleep")
    if base in ("lie", "lay", "curl", "settle", "turn", "get") and _TO_SLEEP.search(rest):
        return Deed("sleep")
    if base in ("wake", "rouse"):
        return Deed("wake", tuple(one.handle for one in people))
    still = base in ("stand", "sit", "keep", "hold", "lie", "be") and _STILL.match(rest)
    nothing = base in ("do", "say") and rest.startswith("nothing")
    resting = base in _KINDS["wait"] and not things and not re.match(r"(?:my|her|his|both|the|one|a) \w+ (?:on|against|in)\b", rest)
    if resting or still or nothing:
        return Deed("wait", tuple(one.handle for one in people))
    return None
