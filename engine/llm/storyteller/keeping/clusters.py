"""Moments joined into what belongs together: one place, the same people, one stretch of time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.llm.storyteller.keeping.moments import Moment

_REACH = 3
"""How many clusters back a moment may still join."""
_KEPT_FROM = 4
"""Weight of a cluster's weightiest moment from which it is kept."""
_LONGEST = 9


@dataclass
class Cluster:
    """Moments to be told as one."""

    moments: list[Moment] = field(default_factory=list)
    standing: bool = False
    """A threat or promise of its own: it may stay pinned, so that nothing else is joined to it."""

    @property
    def weight(self) -> int:
        """Of the weightiest moment, and a little for more of them."""
        heaviest = max(moment.weight for moment in self.moments)
        return heaviest + min(2, sum(moment.weight >= 3 for moment in self.moments) // 3)

    @property
    def people(self) -> frozenset[str]:
        """Everybody in it."""
        return frozenset().union(*(moment.people for moment in self.moments))

    @property
    def pinned(self) -> bool:
        """Whether any of it was pinned before."""
        return any(moment.pinned for moment in self.moments)


def clustered(moments: Sequence[Moment], owner: str) -> list[Cluster]:
    """All moments in clusters. Threats are kept apart by who threatens whom, so that a pin holds little."""
    clusters: list[Cluster] = []
    standing: dict[tuple[str, str], Cluster] = {}
    for moment in moments:
        pair = standing_between(moment)
        if pair is not None:
            cluster = standing.get(pair)
            if cluster is None:
                cluster = standing[pair] = Cluster(standing=True)
                clusters.append(cluster)
            cluster.moments.append(moment)
            continue
        home = _home(moment, clusters, owner)
        if home is None:
            home = Cluster()
            clusters.append(home)
        home.moments.append(moment)
    return clusters


def standing_between(moment: Moment) -> tuple[str, str] | None:
    """Who threatens whom, for a threat; who told whom, for a pinned speech. None for all else."""
    if moment.mode != "said" or not moment.words:
        return None
    if moment.act == "threat" or moment.pinned:
        return moment.who, moment.whom[0] if moment.whom else ""
    return None


def kept(clusters: Sequence[Cluster]) -> list[Cluster]:
    """Clusters worth remembering, in order; the weightiest alone when none quite is, because keeping nothing is no answer."""
    found = [cluster for cluster in clusters if cluster.weight >= _KEPT_FROM or cluster.pinned]
    if found or not clusters:
        return found
    return [max(clusters, key=lambda cluster: (cluster.weight, len(cluster.moments)))]


def _home(moment: Moment, clusters: Sequence[Cluster], owner: str) -> Cluster | None:
    others = moment.people - {owner}
    for cluster in list(reversed(clusters))[:_REACH]:
        last = cluster.moments[-1]
        if cluster.standing or last.place != moment.place or len(cluster.moments) >= _LONGEST or _apart(last, moment):
            continue
        theirs = cluster.people - {owner}
        if others & theirs or (not others and not theirs) or (moment.mode == "thought" and not moment.people - {owner}):
            return cluster
    return None


def _apart(earlier: Moment, later: Moment) -> bool:
    """Whether hours lie between two moments."""
    return earlier.when != later.when and (earlier.old or later.old)
