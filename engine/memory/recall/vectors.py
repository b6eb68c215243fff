"""What recall holds of each owner between prompts: one matrix of vectors, and the few columns that ranking needs.

Filled on first use, extended by what was written since, dropped when memory runs short. A warm recall reads no vector from the
save (facts-recall 6: fetching them is what takes the time).
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.memory.embedding import Vectors
from engine.records.base import EntityId, LedgerId, PlaceId, RunId
from engine.storage.embeddings import LedgerSlice
from engine.storage.ledger import LedgerFacts

T = TypeVar("T", bound=np.generic)

_EPOCH = datetime(1, 1, 1)
_EPOCH_SECOND = np.datetime64(_EPOCH, "s")
_SCENE_HOURS = 6.0
"""Neighbours in time this far apart in one place are of one scene."""
_EXACT = 200_000
"""Entries from which a first pass over the leading dimensions picks what is scored exactly."""
_LEADING = 128
_PICKED = 0.01
_ROW_BYTES = 400
"""What a row costs beside its vector, roughly."""
_SPARE = 64
"""Rows of room that a column has beyond what it holds, or an eighth of it if that is more."""

BUDGET = 256 * 1024 * 1024
"""Bytes that all owners' matrices may take together."""


class _Column(Generic[T]):
    """An array that grows at its end."""

    def __init__(self, dtype: type[T], *shape: int) -> None:
        self._room: NDArray[T] = np.zeros((0, *shape), dtype=dtype)
        self._size = 0

    @property
    def values(self) -> NDArray[T]:
        """The filled part. A view: it stays as it is when the column grows."""
        return self._room[: self._size]

    def __len__(self) -> int:
        return self._size

    def reserve(self, size: int) -> None:
        """Make room for `size` rows and some more. What is not filled takes no memory: the system hands out pages on first touch."""
        if size > len(self._room):
            room = np.zeros((size + max(_SPARE, size // 8), *self._room.shape[1:]), dtype=self._room.dtype)
            room[: self._size] = self.values
            self._room = room

    def extend(self, values: NDArray[Any]) -> None:
        """Add rows."""
        size = self._size + len(values)
        self.reserve(size)
        self._room[self._size : size] = values
        self._size = size


class OwnerVectors:
    """One owner's ledger as numbers, a row an entry, in order of writing."""

    def __init__(self, dim: int, stamp: RunId | None = None) -> None:
        self.stamp = stamp
        """The owner's newest handoff run when this was read."""
        self.ids: list[LedgerId] = []
        self.people: list[tuple[EntityId, ...]] = []
        self._dim = dim
        self._rows: dict[LedgerId, int] = {}
        self._codes: dict[PlaceId | None, int] = {}
        self._seqs = _Column(np.int64)
        self._hours = _Column(np.float64)
        self._importance = _Column(np.float64)
        self._places = _Column(np.int64)
        self._known = _Column(np.bool_)
        self._matrix = _Column(np.float32, dim)
        self._front = _Column(np.float32, min(dim, _LEADING))
        """The leading dimensions once more, side by side, of large ledgers: read out of the matrix they cost three times as much."""
        self._order: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def last_seq(self) -> int:
        """Place in the order of writing of the newest entry, 0 for none."""
        seqs = self._seqs.values
        return int(seqs[-1]) if len(seqs) else 0

    @property
    def nbytes(self) -> int:
        """Memory taken, roughly."""
        return self._matrix.values.nbytes + self._front.values.nbytes + _ROW_BYTES * len(self)

    @property
    def missing(self) -> int:
        """How many entries have no vector yet."""
        return len(self) - int(np.count_nonzero(self._known.values))

    def without_vector(self, limit: int) -> list[LedgerId]:
        """The oldest entries that have no vector yet."""
        return [self.ids[row] for row in np.flatnonzero(~self._known.values)[:limit]]

    def rows(self, seqs: Sequence[int]) -> list[int]:
        """Rows of entries, by their places in the order of writing; -1 for unknown ones."""
        known = self._seqs.values
        sought = np.array(seqs, dtype=np.int64)
        rows = np.searchsorted(known, sought)
        rows[rows == len(known)] = -1
        found: list[int] = np.where(known[rows] == sought, rows, -1).tolist() if len(known) else [-1] * len(seqs)
        return found

    def seqs(self, rows: Sequence[int]) -> list[int]:
        """Places in the order of writing of some rows."""
        found: list[int] = self._seqs.values[list(rows)].tolist()
        return found

    def importance(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """1 to 10, for some rows."""
        return self._importance.values[rows]

    def hours_before(self, rows: NDArray[np.int64], now: datetime) -> NDArray[np.float64]:
        """World hours from the events of some rows to `now`."""
        return _hours(now) - self._hours.values[rows]

    def at(self, rows: NDArray[np.int64], place: PlaceId | None) -> NDArray[np.bool_]:
        """Which of some rows happened in a place."""
        return np.equal(self._places.values[rows], self._codes.get(place, -1))

    def fill(self, slices: Iterable[LedgerSlice], expected: int) -> None:
        """Take in a whole ledger of about `expected` entries. Only for a ledger of which nothing is held yet."""
        self._matrix.reserve(expected)
        for ids, seqs, timestamps, importance, places, people, vectors in slices:
            moments = np.array(timestamps, dtype="datetime64[s]") - _EPOCH_SECOND
            self._append(ids, seqs, moments.astype(np.int64) / 3600.0, importance, places, people)
            blobs, known = self._fitting(vectors)
            self._matrix.extend(np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(ids), self._dim))
            self._known.extend(known)
        self._rows = dict(zip(self.ids, range(len(self.ids)), strict=True))
        self._order = None
        self._keep_front()

    def extend(self, facts: Sequence[LedgerFacts], vectors: Mapping[LedgerId, bytes]) -> None:
        """Take in entries written since, and vectors of entries that are here already. Entries known by `seq` are skipped."""
        last = self.last_seq
        new = [fact for fact in facts if fact.seq > last]
        if new:
            ids, seqs, timestamps, importance, places, people = zip(*new, strict=True)
            self._rows.update(zip(ids, range(len(self.ids), len(self.ids) + len(ids)), strict=True))
            self._append(ids, seqs, [_hours(moment) for moment in timestamps], importance, places, people)
            self._known.extend(np.zeros(len(new), dtype=bool))
            self._matrix.extend(np.zeros((len(new), self._dim), dtype=np.float32))
            self._order = None
            self._keep_front()
        for key, blob in vectors.items():
            row = self._rows.get(key)
            if row is not None and len(blob) == 4 * self._dim:  # another length is another model's: never compared
                self._set(row, np.frombuffer(blob, dtype="<f4"))
                self._known.values[row] = True

    def replace(self, facts: Sequence[LedgerFacts], vectors: Mapping[LedgerId, bytes]) -> None:
        """Take in what became of entries that were rewritten."""
        for fact in facts:
            row = self._rows.get(fact.id)
            if row is not None:
                self.people[row] = fact.involved
                self._hours.values[row] = _hours(fact.timestamp)
                self._importance.values[row] = fact.importance
                self._places.values[row] = self._code(fact.location_id)
                self._known.values[row] = False
                self._set(row, np.zeros(self._dim, dtype=np.float32))
                self._order = None
        self.extend((), vectors)

    def nearest(self, query: Vectors, count: int) -> list[int]:
        """Rows with the highest cosine to a unit vector, best first. Rows without a vector are left out.

        Exact below 200,000 entries. `np.vecdot` stays off the thread pool, which costs 200 times the work at 1,000 rows.
        """
        matrix, known = self._matrix.values, self._known.values
        if not len(matrix):
            return []
        if len(matrix) >= _EXACT:
            front = self._front.values
            rough = np.vecdot(front, query[: front.shape[1]])
            if not known.all():
                rough[~known] = -np.inf
            rows = np.sort(_top(rough, max(count, int(len(matrix) * _PICKED))))
            exact = np.vecdot(matrix[rows], query)
            exact[~known[rows]] = -np.inf
            best = rows[_top(exact, count)]
        else:
            cosine = np.vecdot(matrix, query)
            if not known.all():
                cosine[~known] = -np.inf
            best = _top(cosine, count)
        found: list[int] = best[known[best]].tolist()
        return found

    def cosines(self, rows: NDArray[np.int64], query: Vectors | None) -> NDArray[np.float64]:
        """Cosine of some rows to a unit vector; NaN without either."""
        if query is None or not len(rows):
            return np.full(len(rows), np.nan)
        return np.where(self._known.values[rows], np.vecdot(self._matrix.values[rows], query), np.nan).astype(np.float64)

    def cosine(self, a: int, b: int) -> float:
        """Cosine of two rows; 0 when one has no vector."""
        return float(np.vecdot(self._matrix.values[a], self._matrix.values[b]))

    def neighbours(self, row: int) -> tuple[int | None, int | None]:
        """Rows just before and after a row in the owner's time."""
        order, place = self._chronology()
        at = int(place[row])
        return (int(order[at - 1]) if at > 0 else None, int(order[at + 1]) if at + 1 < len(order) else None)

    def scenes(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """As `neighbours` for each of some rows, of the same scene only: the same place, within some hours. -1 where there is none."""
        order, place = self._chronology()
        at = place[rows]
        before = np.where(at > 0, order[at - 1], -1)
        after = np.where(at + 1 < len(order), order[np.minimum(at + 1, len(order) - 1)], -1)
        return np.where(self._together(rows, before), before, -1), np.where(self._together(rows, after), after, -1)

    def newest(self, count: int) -> list[int]:
        """The latest rows in time, newest first."""
        order, _ = self._chronology()
        found: list[int] = order[::-1][:count].tolist()
        return found

    def _append(
        self, ids: Sequence[LedgerId], seqs: Sequence[int], hours: ArrayLike, importance: Sequence[int],
        places: Sequence[PlaceId | None], people: Sequence[tuple[EntityId, ...]],
    ) -> None:
        """Add rows to all columns but the vectors."""
        codes = self._codes
        self.ids += ids
        self.people += people
        self._seqs.extend(np.array(seqs))
        self._hours.extend(np.asarray(hours))
        self._importance.extend(np.array(importance))
        self._places.extend(np.array([codes.setdefault(place, len(codes)) for place in places]))

    def _fitting(self, vectors: Sequence[bytes | None]) -> tuple[list[bytes], NDArray[np.bool_]]:
        """Vectors with zeros for those that are missing or of another length, which are another model's, and which were there."""
        size, present = 4 * self._dim, [blob for blob in vectors if blob is not None]
        if len(present) == len(vectors) and set(map(len, present)) == {size}:
            return present, np.ones(len(vectors), dtype=bool)
        known = np.array([blob is not None and len(blob) == size for blob in vectors], dtype=bool)
        blank = bytes(size)
        return [blob if blob is not None and len(blob) == size else blank for blob in vectors], known

    def _set(self, row: int, vector: NDArray[np.float32]) -> None:
        self._matrix.values[row] = vector
        if row < len(self._front):
            self._front.values[row] = vector[: self._front.values.shape[1]]

    def _keep_front(self) -> None:
        """Copy the leading dimensions of rows that were added to a ledger too large to be scored exactly."""
        if len(self) >= _EXACT:
            added = self._matrix.values[len(self._front) :, :_LEADING]
            self._front.reserve(len(self))
            self._front.extend(added)

    def _together(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of some rows are of one scene with another, given for each; -1 is with none."""
        hours, places = self._hours.values, self._places.values
        near = np.abs(hours[rows] - hours[others]) <= _SCENE_HOURS
        return np.asarray((others >= 0) & (places[rows] == places[others]) & near)

    def _chronology(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows in order of time, and the place of each row in that order."""
        if self._order is None:
            hours = self._hours.values
            if (hours[1:] >= hours[:-1]).all():  # written as it happened: the common case
                order = np.arange(len(hours), dtype=np.int64)
            else:
                order = np.lexsort((self._seqs.values, hours)).astype(np.int64)
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            self._order = (order, place)
        return self._order

    def _code(self, place: PlaceId | None) -> int:
        return self._codes.setdefault(place, len(self._codes))


class VectorCache:
    """Matrices of the owners asked for last, within a budget of bytes."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._held: OrderedDict[EntityId, OwnerVectors] = OrderedDict()
        self._sizes: dict[EntityId, int] = {}
        self._total = 0
        """Bytes of all that is held, as of when each was put: summed up anew at each recall they cost more than ranking does."""

    def get(self, owner: EntityId) -> OwnerVectors | None:
        """What is held of an owner, who thereby counts as just used."""
        if owner in self._held:
            self._held.move_to_end(owner)
        return self._held.get(owner)

    def put(self, owner: EntityId, vectors: OwnerVectors) -> None:
        """Hold an owner's matrix, and drop those not used for longest while all are over the budget together."""
        size = vectors.nbytes
        self._total += size - self._sizes.get(owner, 0)
        self._held[owner], self._sizes[owner] = vectors, size
        self._held.move_to_end(owner)
        while self._total > self._budget and len(self._held) > 1:
            self.drop(next(iter(self._held)))

    def drop(self, owner: EntityId) -> None:
        """Forget an owner's matrix: it is read anew when asked for."""
        self._held.pop(owner, None)
        self._total -= self._sizes.pop(owner, 0)


def _hours(moment: datetime) -> float:
    return (moment - _EPOCH).total_seconds() / 3600.0


def _top(values: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Indices of the highest values, highest first; of equals the earlier first, so that the order never depends on chance."""
    if count < len(values):
        edge = np.partition(values, len(values) - count)[len(values) - count]
        above = np.flatnonzero(values > edge)
        ties = np.flatnonzero(values == edge)[: count - len(above)]
        found = np.sort(np.concatenate((above, ties)))
    else:
        found = np.arange(len(values))
    return found[np.argsort(-values[found], kind="stable")].astype(np.int64)
