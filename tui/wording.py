"""What minds did, in one line each: the same words as it happens and after a save is opened again."""

from typing import TYPE_CHECKING

from engine.records.memory import AliasChange, HandoffRun
from engine.records.review import PendingProposal
from tui.text import capital, count

if TYPE_CHECKING:
    from engine.asides import Aside


def tally(name: str, run: HandoffRun) -> str:
    """What a handoff did: `Bryn: 3 kept, 1 merged, 2 pinned, 7 forgotten`."""
    if run.kind == "compression":
        return f"{capital(name)}: {count(len(run.candidate_ids), 'old memory', 'old memories')} told as {run.added + run.updated}"
    parts = [f"{run.added} kept"]
    parts += [f"{run.updated} merged"] if run.updated else []
    parts += [f"{run.pinned} pinned"] if run.pinned else []
    return f"{capital(name)}: {', '.join([*parts, f'{run.forgotten} forgotten'])}"


def asks(name: str, pending: PendingProposal) -> str:
    """What waits and is still open: `Bryn: 3 memories wait for your word`."""
    number = pending.verdicts.count("open")
    if not number:
        return f"{capital(name)}: all is decided and waits to be written"
    return f"{capital(name)}: {count(number, 'memory', 'memories')} {'waits' if number == 1 else 'wait'} for your word"


def rejected(name: str) -> str:
    """What a rejected proposal comes to."""
    return f"{capital(name)}: the proposal was rejected. Every moment stays in mind."


def failed(name: str, run: HandoffRun) -> str:
    """What a handoff that failed comes to."""
    return f"{name} could not sort its memories: {run.error or run.reason} Nothing was lost."


def named(viewer: str, target: str, change: AliasChange) -> tuple[str, str] | None:
    """Of an alias that changed: what became of it, and for whom. `Bryn is now “the baker” to` and `Mira`: several who learn the same
    at once go into one line. Nothing for what the world's files or looks say."""
    if change.cause in ("authored", "label"):
        return None
    if change.new is None:
        return f"{capital(target)} has no name any more to", viewer
    return f"{capital(target)} is now {'known by name' if change.new == target else f'“{change.new}”'} to", viewer


def capped(playing: bool) -> str:
    """What to do when a cap stops play. Somebody who plays is in the line, where only function keys reach."""
    return f"Paused at a cap: {'f2 raises it, then enter goes on' if playing else 'M raises it, then n goes on'}."


def barred(playing: bool) -> str:
    """What to do when play rests because a model cannot be asked."""
    return f"Play rests: {'f2 shows the models, enter tries again' if playing else 'M shows the models, n tries again'}."


def retold(aside: "Aside") -> tuple[str, str, bool]:
    """Something a mind did, as a save tells it: the words, for whom, and whether it went wrong."""
    match aside.what:
        case PendingProposal() as pending:
            return f"{asks(aside.who, pending)}.", "", False
        case AliasChange() as change:
            text, whom = named(aside.who, aside.whom, change) or ("", "")
            return text, whom, False
        case HandoffRun(status="committed") as run:
            return tally(aside.who, run), "", False
        case HandoffRun(decision="rejected"):
            return rejected(aside.who), "", False
        case HandoffRun() as run:
            return failed(aside.who, run), "", True
