"""What a person writes into a memory, as it is kept: people by reference tokens, nothing a reader cannot see, no id."""

import difflib
import re
from collections.abc import Collection, Sequence

from engine.errors import CommandError
from engine.memory.handoff.content import in_first_person
from engine.memory.handoff.spans import outside_quotes
from engine.memory.ids import first_id, replace_ids, spelt, with_plain_tokens
from engine.memory.text import bare
from engine.mind.aliases import (
    UNFAMILIAR,
    is_name,
    label_of,
    name_words,
    names_for,
    narrator_name,
    own_name,
    own_words,
    resolve_alias,
    tokenize,
    true_names,
    vocabulary,
    whole_names,
)
from engine.mind.perception import reach
from engine.mind.referring import Vocabulary
from engine.mind.unheard import full_names
from engine.records.base import EntityId
from engine.records.clean import one_line
from engine.records.tokens import referred, substitute, token
from engine.records.world import World

LONGEST = 2000
"""Characters of an account or a quote."""
MOST_QUOTES = 20

_YOU = re.compile(
    r"\byou(?: (?P<verb>weren't|aren't|haven't|don't|were|are|have|do))?\b(?!['\u2019])|\b(?P<your>your)\b", re.IGNORECASE
)
_OWN_VERBS = {
    "were": "was", "are": "is", "have": "has", "do": "does", "weren't": "wasn't", "aren't": "isn't", "haven't": "hasn't",
    "don't": "doesn't",
}  # fmt: skip
_AT = re.compile(r"(?<![\w@{])@([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)")
_ROW_ID = re.compile(r"(?<!\w)(?:buf|led|run|prop)-\d+(?!\w)")
_TOKEN = re.compile(r"(\{\{e:[A-Za-z0-9_.-]+\}\})")
_MARKS = " \t\"\u201c\u201d\u00ab\u00bb"


def account(
    world: World, owner: EntityId, text: str, shown: Collection[EntityId] = (), *, what: str = "A memory", longest: int = LONGEST
) -> str:
    """The account of a memory of `owner`, or `what` else it is called, as it is kept.

    People may be named as the owner calls them, as `you` for the owner, by their true names, by `@id` or by reference tokens. Part of
    a true name will do where it means only one.
    `shown` are those whom the text named before it was edited: they are called as they were shown. What stands in quotation marks
    stays as it is, names and all: speech has no tokens. Raises `CommandError` for text that cannot be kept.
    """
    line = with_plain_tokens(one_line(text), world.entities)
    _check_length(line, what, longest)
    _check_known(world, line)
    names = names_known(world, owner, shown)

    def meant(found: str) -> str:
        entity = spelt(found, world.entities)
        return token(entity) if entity else found

    def worded(part: str) -> str:
        part = _AT.sub(lambda found: token(_at(world, found[1])), part)
        part = replace_ids(full_names(tokenize(part, names), names), world.entities, meant)
        pieces = _TOKEN.split(part)
        pieces[::2] = [_YOU.sub(lambda found: _own(found, owner), piece) for piece in pieces[::2]]
        return "".join(pieces)

    kept = outside_quotes(line, worded, lambda part: substitute(part, lambda entity: _called(world, owner, entity)))
    if not any(sign.isalnum() for sign in bare(kept)):
        raise CommandError(f"{what} needs words.", "Write what happened, in a sentence or two.")
    _check_ids(world, kept)
    return kept


def check_third_person(world: World, owner: EntityId, text: str) -> None:
    """Refuse an account that says `I`, as a model's is refused: in somebody else's prompt or mind `I` would mean another. Raises
    `CommandError`."""
    if in_first_person(text):
        name = narrator_name(world.entities[owner])
        raise CommandError("That is told in the first person.", f'Write it in the third person: "{name} ..."')


def spoken(world: World, quotes: Sequence[str], held: Collection[str] = ()) -> tuple[str, ...]:
    """Quotes as they are kept: one line each, blank ones left out, each once. Those in `held` stay as they were.

    Raises `CommandError` for one that is too long or speaks in ids, and for too many.
    """
    found: dict[str, None] = {}
    for quote in quotes:
        line = quote if quote in held else one_line(quote).strip(_MARKS).replace("{{", "{")
        if not any(sign.isalnum() for sign in line):
            continue
        if quote not in held:
            _check_length(line, "A quote")
            _check_ids(world, line)
        found[line] = None
    if len(found) > MOST_QUOTES:
        raise CommandError(f"A memory holds {MOST_QUOTES} quotes at the most.", "Keep those that matter.")
    return tuple(found)


def people(world: World, owner: EntityId, named: Sequence[EntityId], content: str) -> tuple[EntityId, ...]:
    """Whom a memory involves: those named, then those its account speaks of, never the owner. Raises `CommandError`."""
    for entity in named:
        if entity not in world.entities:
            raise CommandError(f'Nobody here has the id "{_short(entity)}".', "Choose one of the people or things of this world.")
    return tuple(entity for entity in dict.fromkeys([*named, *referred(content)]) if entity != owner)


def names_known(world: World, owner: EntityId, shown: Collection[EntityId] = ()) -> Vocabulary:
    """What each name in a person's text means, for text about what `owner` remembers.

    First whom the text named before, as it named them; then whom the owner knows or sees; then labels that fit only one, and true
    names and their parts: the owner will read them as what it calls that one.
    """
    met = [entity for entity in (*world.entities[owner].aliases, *reach(world, owner).here, *shown) if entity in world.entities]
    rest = [entity for entity in world.entities if entity not in set(met) and entity != owner]
    labels: dict[str, list[EntityId]] = {}
    for entity in rest:
        labels.setdefault(label_of(world.entities[entity]), []).append(entity)
    unique = {label: held[0] for label, held in labels.items() if len(held) == 1 and label != UNFAMILIAR}
    true = name_words({entity: name for entity, name in true_names(world, world.entities).items() if is_name(name)})
    before = {name: entity for entity, name in names_for(world, owner, shown).items() if entity != owner}
    names = {**true, **unique, **own_words(world, owner), **vocabulary(world, owner, met), **before}
    return Vocabulary(names, whole_names(world, world.entities))


def _at(world: World, key: str) -> EntityId:
    """Whom `@key` means. Raises `CommandError` with ids that are near to one that is nobody's."""
    if key in world.entities:
        return key
    ways = {way.casefold(): entity for entity, name in true_names(world, world.entities).items() for way in (*name.split(), name, entity)}
    near = dict.fromkeys(f"@{ways[way]}" for way in difflib.get_close_matches(key.casefold(), ways, n=3, cutoff=0.5))
    advice = f"Did you mean {' or '.join(near)}?" if near else "Name people as they are called, or as `@id`."
    raise CommandError(f'Nobody here has the id "{_short(key)}".', advice)


def _own(found: re.Match[str], owner: EntityId) -> str:
    """`you were` as it is kept of the owner, who will read it as `you were` again."""
    if found["your"]:
        return f"{token(owner)}'s"
    verb = found["verb"]
    return token(owner) + (f" {_OWN_VERBS[verb.lower()]}" if verb else "")


def _check_length(line: str, what: str, longest: int = LONGEST) -> None:
    if len(line) > longest:
        raise CommandError(f"{what} of {len(line)} characters is too long.", f"Keep it to {longest}.")


def _check_known(world: World, line: str) -> None:
    for entity in referred(line):
        if entity not in world.entities:
            raise CommandError(f'Nobody here has the id "{_short(entity)}".', "Name people as they are called, or as `@id`.")


def _called(world: World, owner: EntityId, entity: EntityId) -> str:
    """What somebody is called in speech that `owner` remembers."""
    return own_name(world.entities[owner]) if entity == owner else resolve_alias(world, owner, entity)


def _check_ids(world: World, text: str) -> None:
    """Refuse what is an id and cannot be an ordinary word: nobody in a world knows ids."""
    plain = substitute(text, lambda _: " ")
    row = _ROW_ID.search(plain)
    found = row[0] if row else next(filter(None, (first_id(plain, ids) for ids in (world.entities, world.places, world.portals))), "")
    if found:
        raise CommandError(f'"{_short(found)}" is an id, and nobody in a world knows ids.', "Say it in words.")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "\u2026"
