"""What Home tells of what is under its cursor: a world, a save, settings that cannot be used."""

from typing import TYPE_CHECKING

from textual.content import Content

from tui.glyphs import CANDIDATE
from tui.saves import SaveInfo
from tui.text import count, plain, prose

if TYPE_CHECKING:
    from engine.files.bundled import WorldInfo
    from engine.settings import Broken

_FAULTS = 8
"""Faults of settings that are listed here."""
_KEYS = ("enter", "M", "d", "n", "t", "v", "x", "3")


def about_world(world: "WorldInfo", *, demo: bool) -> list[Content]:
    """What a world is about and what happens next."""
    lines = [Content.styled(plain(world.name), ".name"), Content("")]
    lines += [Content(line) for line in prose(world.description)]
    lines += [Content("")]
    if demo:
        lines += [
            _keyed("enter", "or", "d", "starts a new game. You watch; the characters act by themselves."), Content(""),
            _keyed("n", "plays a round. Look at the mind on the right: when it is full, what mattered is kept and the rest forgotten."),
            Content(""), _keyed("t", "takes somebody over: you write what they do, and the story tells only what they see."),
            Content(""), _keyed("3", "and", "enter", "open the mind of anybody, also while you play."),
        ]
    else:
        lines.append(_keyed("enter", "starts a new game."))
    return lines


def about_settings(found: "Broken") -> list[Content]:
    """Which lines are at fault, and what to do."""
    lines = [Content.styled("Settings cannot be used", ".bad")]
    if found.path is not None:
        lines.append(Content.styled(plain(str(found.path)), ".quiet"))
    for fault in found.faults[:_FAULTS]:
        lines += [Content(""), Content(plain(fault.text))]
    if len(found.faults) > _FAULTS:
        lines += [Content(""), Content(f"And {len(found.faults) - _FAULTS} more.")]
    return [
        *lines, Content(""), Content(plain(found.advice)),
        _keyed("enter", "or", "M", "shows the lines, opens them in your editor, or puts one aside."), Content(""),
        Content("Worlds and saves can be played meanwhile: the storyteller speaks for everybody."),
    ]


def _keyed(*words: str) -> Content:
    """A sentence of parts, in which those that are keys look like keys."""
    return Content(" ").join(Content.styled(part, ".key" if part in _KEYS else "") for part in words)


def about_save(save: SaveInfo) -> list[Content]:
    """How far a game has come."""
    note = save.note
    if not note.world:
        return [Content(save.path.name), Content(""), Content("A save without a note beside it. enter goes on with it.")]
    played = f"You play {plain(note.played_name)}." if note.played_name else "You are watching."
    lines = [Content.styled(plain(note.world), ".name"), Content(f"Round {note.round} · {plain(note.now)}"), Content(played)]
    if note.waiting:
        waits = f"{CANDIDATE} {count(note.waiting, 'proposal waits', 'proposals wait')} for your word (v, once it is open)."
        lines.append(Content.styled(waits, ".candidate"))
    lines.append(Content(""))
    for line in note.lines:
        lines.append(Content.styled(plain(line), ".place"))
    lines += [Content(""), _keyed("enter", "goes on."), _keyed("x", "deletes it."), Content("")]
    lines.append(Content.styled(plain(save.path.name), ".quiet"))
    return lines

