"""What is said when play has come to rest: what it did, why it rests, and what to do next."""

from collections.abc import Sequence

from tui.pace import Rested
from tui.text import count
from tui.view import Note, WorldView, all_asks, who_asks
from tui.wording import barred, capped


def rest_note(view: WorldView, item: Rested, tallies: Sequence[str], *, idle: bool) -> Note:
    """The line for it. `tallies` are handoffs that were shown since play rested last; `idle`: no round has passed since then."""
    if item.why == "stopped":
        undone = "What you wrote was not done: it is in the line." if item.text else "The beat that ran was not played; n goes on."
        return Note(f"Stopped. {undone}", lasting=True)
    if item.why in ("capped", "failed"):
        playing = view.played is not None
        played = f" {item.rounds} of {count(item.wanted, 'round')} played." if item.wanted > 1 else ""
        what_to_do = capped(playing) if item.why == "capped" else barred(playing)
        return Note(f"{what_to_do}{played} {item.reason}", "bad", lasting=True, advice=item.advice)
    if view.note.kind == "bad" and not tallies:
        return view.note
    if item.why == "asked" and view.waiting:
        short = f"{item.rounds} of {item.wanted} rounds played: {who_asks(view)}"
        return Note(short if item.rounds < item.wanted else all_asks(view), lasting=True)
    number = view.world.round if view.world else 0
    rounds = f"Round {number} is over." if item.rounds <= 1 else f"{count(item.rounds, 'round')} played."
    if idle:  # looking takes no round
        rounds = "That took no time."
    more = "Write what you do next; an empty line waits." if view.played else "n plays the next."
    what = f" {tallies[-1]}" + (f" (and {len(tallies) - 1} more)" if len(tallies) > 1 else "") + "." if tallies else ""
    return Note(f"{rounds}{what} {more}", "good" if tallies else "plain", lasting=True)
