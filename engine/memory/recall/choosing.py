"""From ranked entries to those that go into the prompt: no repeats, within the budget, with a receipt for each (DESIGN 8). Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.memory.lore import Line
from engine.memory.recall.repeats import richer, says_the_same
from engine.records.base import BufferId, EntityId
from engine.records.memory import LedgerEntry

_MISSED = 5
"""Entries that just missed which a receipt is given for."""


class Offer(NamedTuple):
    """An entry that may go into the prompt."""

    row: int
    entry: LedgerEntry
    people: frozenset[EntityId]
    sources: frozenset[BufferId]
    tokens: int
    rank: int
    """Place in the ranking from 1; 0 for an entry that is only next to one of the best."""


@dataclass(slots=True)
class Choice:
    """What was chosen, best first, and what missed, each with its reason. Built up by a `Chooser`."""

    chosen: list[tuple[Offer, str]] = field(default_factory=list)
    missed: dict[int, tuple[Offer, str]] = field(default_factory=dict)
    """By row."""

    untold: set[str] = field(default_factory=set)
    """Sources of known lines that a chosen memory tells as well, and richer."""

    full: bool = False
    """Whether the budget kept something out: looking further back will not help."""

    settled: bool = False
    """Whether further offers behind those that were ranked would change nothing of what is chosen."""

    def just_missed(self) -> list[tuple[Offer, str]]:
        """The best ranked of those that missed, each with its reason."""
        ranked = (missed for missed in self.missed.values() if missed[0].rank and not _has(self, missed[0]))
        return sorted(ranked, key=lambda missed: missed[0].rank)[:_MISSED]

    @property
    def tokens(self) -> int:
        """Tokens of all that was chosen."""
        return sum(offer.tokens for offer, _ in self.chosen)


@dataclass(frozen=True, slots=True)
class Chooser:
    """The rules of one choice."""

    limit: int
    """Entries at the most."""
    budget: int | None
    """Tokens at the most; None for no bound."""
    same: float
    """Cosine from which texts of this embedder count as the same."""
    cosine: Callable[[int, int], float]
    """Of two rows."""
    known: Mapping[int, Line] = field(default_factory=dict)
    """By row the piece of knowledge, told in the same prompt, that tells the same."""

    def choose(self, ranked: Sequence[Offer], chained: Sequence[Offer], room: int) -> Choice:
        """The best of `ranked`, then up to `room` of `chained` behind them; what the chain leaves free goes to the ranked again."""
        choice = Choice()
        direct = self.limit - min(room, len(chained))
        rest, enough = self._fill(choice, ranked, direct)
        self._fill(choice, [offer for offer in chained if not _has(choice, offer)], self.limit)
        _, sated = self._fill(choice, [offer for offer in rest if not _has(choice, offer)], self.limit)
        choice.settled = enough and sated
        self._explain_places(choice)
        return choice

    def _fill(self, choice: Choice, offers: Sequence[Offer], limit: int) -> tuple[list[Offer], bool]:
        """Take offers in order up to `limit`. Returns those that only the limit kept out, and whether it stopped before their end."""
        kept_out: list[Offer] = []
        for at, offer in enumerate(offers):
            if len(kept_out) >= _MISSED:
                return [*kept_out, *offers[at:]], True
            double = self._double(choice, offer)
            line = self.known.get(offer.row)
            if double is not None:
                self._prefer_richer(choice, double, offer)
            elif line is not None and not richer(offer.entry, line):
                choice.missed[offer.row] = (offer, "tells the same as what is known")
            elif len(choice.chosen) >= limit:
                kept_out.append(offer)
                choice.missed[offer.row] = (offer, self._beyond(offer))
            elif self.budget is not None and choice.tokens + offer.tokens > self.budget:
                choice.full = True
                choice.missed[offer.row] = (offer, f"no room for its {offer.tokens} tokens")
            else:
                choice.chosen.append((offer, f"ranked {offer.rank}" if offer.rank else "next to the best"))
                if line is not None and not line.constant:
                    choice.untold.add(line.source)
        return kept_out, False

    def _explain_places(self, choice: Choice) -> None:
        """Say of those within the limit who took their places: `ranked 10, limit 12` would read as a contradiction."""
        beside = sum(offer.rank == 0 for offer, _ in choice.chosen)
        for row, (offer, reason) in choice.missed.items():
            if beside and 0 < offer.rank <= self.limit and reason == self._beyond(offer):
                places = f"{len(choice.chosen) - beside} by rank and {beside} next to the best fill the {self.limit} places"
                choice.missed[row] = (offer, f"ranked {offer.rank}: {places}")

    def _beyond(self, offer: Offer) -> str:
        return f"ranked {offer.rank}, limit {self.limit}"

    def _prefer_richer(self, choice: Choice, at: int, offer: Offer) -> None:
        """Of two that tell the same keep the one that says more, in the better one's place."""
        held, reason = choice.chosen[at]
        grown = choice.tokens - held.tokens + offer.tokens
        if richer(offer.entry, held.entry) and (self.budget is None or grown <= self.budget):
            choice.chosen[at] = (offer, reason)
            offer = held
        choice.missed[offer.row] = (offer, "tells the same as another")

    def _double(self, choice: Choice, offer: Offer) -> int | None:
        """Place of the first that was chosen and comes from the same events as `offer`, or means the same of the same people."""
        row, entry, people, sources = offer.row, offer.entry, offer.people, offer.sources
        for place, (held, _) in enumerate(choice.chosen):
            if sources and held.sources == sources:
                return place
            if held.people == people and self.cosine(held.row, row) >= self.same and says_the_same(held.entry, entry):
                return place
        return None


def _has(choice: Choice, offer: Offer) -> bool:
    return any(held.row == offer.row for held, _ in choice.chosen)
