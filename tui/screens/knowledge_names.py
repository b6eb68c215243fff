"""Names on the Knowledge screen: whom a reader means by one, and what is written in the reader's names as stored text has it."""

import re
from collections.abc import Iterable, Mapping, Sequence

from engine.errors import CommandError
from engine.mind.render import capital, render
from engine.records.base import EntityId
from engine.records.tokens import referred, token
from tui.panes.known_ask import nearest
from tui.text import plain, without_article


def entity_called(text: str, names: Mapping[EntityId, str]) -> EntityId:
    """Whom a reader means by a name, with or without its article. Raises `CommandError` with names that are like it."""
    low = without_article(" ".join(text.split())).casefold()
    for entity, name in names.items():
        if low and without_article(plain(name)).casefold() == low:
            return entity
    raise CommandError(f"Nobody and nothing is called “{plain(text)[:60]}”.", nearest(text, list(names.values())))


def to_edit(content: str, names: Mapping[EntityId, str]) -> str:
    """Stored text as a reader edits it: all by name, oneself too."""
    return capital(render(content, {entity: names.get(entity, "") or "someone" for entity in referred(content)}))


def to_keep(text: str, names: Mapping[EntityId, str], first: Iterable[EntityId] = ()) -> str:
    """A reader's text with its names as reference tokens. Where two are called the same, one of `first` is meant."""
    ids: dict[str, EntityId] = {}
    for entity in (*first, *sorted(names)):
        if name := plain(names.get(entity, "")):
            ids.setdefault(name.casefold(), entity)
    if not ids:
        return text
    longest = sorted(ids, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<![\w@{{:])({'|'.join(map(re.escape, longest))})(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda match: token(ids[match.group(1).casefold()]), text)


def together(names: Sequence[str], most: int = 4) -> str:
    """People in a sentence: `Tom Reed, Ansa Pike and 3 others`."""
    told = [plain(name) for name in names]
    if len(told) > most + 1:
        told = [*told[:most], f"{len(told) - most} others"]
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
