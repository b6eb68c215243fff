"""Knowledge as lines of text, for the command line."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tui.tables import hanging, table
from tui.text import capital, count

if TYPE_CHECKING:
    from engine.knowledge_sources import SourceLine
    from engine.knowledge_views import AuditLine, BeliefLine, KnowledgeLine, PastLine, ReviewLine
    from engine.records.knowledge import PromotionRun


def list_told(lines: "Sequence[KnowledgeLine]") -> Iterator[str]:
    """A list of pieces."""
    yield from table(
        ("piece", "held by", "kind", "sure", "what"),
        [(one.row.id, one.holder, one.row.kind, f"{one.row.confidence:.2f}", _what(one)) for one in lines],
    )


def nothing_known(pairs: str) -> str:
    """That nobody knows anything yet, and how knowledge comes about in a world whose sessions are those of these pairs."""
    talk = {
        "all": "What people say to each other gathers in sessions (`otherminds sessions list`)",
        "player": "What others say to whom you play gathers in sessions (`otherminds sessions list`), not what they say among themselves",
    }.get(pairs)
    how = (
        f"{talk}; when one is collapsed, what recurs in it or was pinned becomes knowledge." if talk
        else "In this world talk gathers in no sessions: what is known is written by hand, or comes with the world."
    )  # fmt: skip
    return f"Nobody knows anything yet beyond what is remembered. {how} `otherminds knowledge add` writes a piece by hand."


def _what(line: "KnowledgeLine") -> str:
    marks = [
        *(["waits for your word"] if line.waits else []), *([f"ended {line.until}"] if line.until else []),
        *(["pinned"] if line.row.pinned else []), *([line.row.tier] if line.row.tier in ("cold", "archived") else []),
    ]  # fmt: skip
    return f"{line.text} ({', '.join(marks)})" if marks else line.text


def piece_told(line: "KnowledgeLine", knowers: Sequence[str], sources: "Sequence[SourceLine]" = ()) -> Iterator[str]:
    """All that is to be said of a piece."""
    row = line.row
    yield from hanging("", line.text)
    if line.rationale:
        yield from hanging("  why: ", line.rationale)
    yield from hanging("  what: ", f"a {row.kind}, {row.term}-term, {row.tier}, version {row.version}")
    yield from hanging("  held by: ", line.holder)
    yield from hanging("  known by: ", ", ".join(knowers) or "nobody")
    yield from hanging("  first known by: ", line.owner)
    if line.subject:
        yield from hanging("  about: ", line.subject)
    if row.topic_key:
        yield from hanging("  topic: ", row.topic_key)
    held = f"{line.since}{f', ended {line.until}' if line.until else ''}"
    yield from hanging("  since: ", held)
    more = [*(["sensitive"] if row.sensitivity == "sensitive" else []), *(["pinned"] if row.pinned else [])]
    yield from hanging("  weighs: ", f"sure {row.confidence:.2f}, importance {row.importance}{''.join(f', {mark}' for mark in more)}")
    yield from hanging("  used: ", f"{count(row.retrieval_count, 'time')}, activation {row.activation:.2f}")
    if row.session_id:
        yield from hanging("  from: ", row.session_id)
    for one in sources:
        yield from hanging("    ", _source(one))
    if line.waits:
        yield from hanging("  waits: ", line.waits)


def _source(one: "SourceLine") -> str:
    """Who said what, and when."""
    if not one.text:
        return f"{one.turn_id}: its words are gone"
    when = f"({one.when}, round {one.round})"
    if one.said:
        return f'{one.speaker or "Somebody"}: "{one.text}" {when}'
    return f"{one.text} {when}"


def past_told(key: str, past: "PastLine") -> Iterator[str]:
    """How a piece came to be what it is."""
    yield from hanging("", f"{key}: {past.line.text if past.line else 'it is no more.'}")
    yield ""
    yield from table(
        ("version", "rounds", "held by", "sure", "wording"),
        [
            (
                str(one.version), f"{one.first_round} to {'now' if one.last_round is None else one.last_round}", one.holder,
                f"{one.confidence:.2f}", f"{one.text}{'' if one.holds else ' (ended)'}",
            )
            for one in past.wordings
        ],
    )
    yield ""
    yield from audit_told(past.audit)


def audit_told(rows: "Sequence[AuditLine]") -> Iterator[str]:
    """Rows of the audit trail."""
    yield from table(
        ("no.", "round", "what", "by", "of", "before, after, why"),
        [(str(one.row.seq), str(one.row.round), one.row.action, one.row.cause, _of(one), _words(one)) for one in rows],
    )


def _of(line: "AuditLine") -> str:
    return line.row.knowledge_id or line.row.session_id or line.owner


def _words(line: "AuditLine") -> str:
    both = line.before and line.after and line.before != line.after
    changed = f"{line.before} \u2192 {line.after}" if both else line.after or line.before
    return f"{changed} ({line.why})" if changed and line.why else changed or line.why


def queue_told(lines: "Sequence[ReviewLine]") -> Iterator[str]:
    """What waits."""
    for number, one in enumerate(lines):
        if number:
            yield ""
        yield from hanging(f"{one.item.id}  ", f"{one.line.text} ({one.line.owner})")
        yield from hanging("  why: ", one.reason)
        yield from hanging("  approved: ", f"held by {one.change.holder}. {one.change.told}")


def beliefs_told(name: str, round_number: int, lines: "Sequence[BeliefLine]") -> Iterator[str]:
    """What somebody believed; with an empty name who believed what."""
    if name:
        yield from hanging("", f"{capital(name)} at the end of round {round_number}{':' if lines else ' believed nothing that fits.'}")
    else:
        yield from hanging("", f"At the end of round {round_number} {'it was known:' if lines else 'nobody knew anything that fits.'}")
    for one in lines:
        yield from hanging(f"  {one.line.row.id}  ", one.line.text)
        if one.believers:
            yield from hanging("              ", f"known by {', '.join(one.believers)}")
        if one.now:
            yield from hanging("              ", one.now)


def promotion_told(run: "PromotionRun") -> Iterator[str]:
    """What a promotion came to."""
    counted = {
        "promoted": run.promoted, "merged": run.merged, "waiting for your word": run.flagged, "discarded": run.discarded,
        "ended": run.retired,
    }  # fmt: skip
    yield from hanging("", f"{run.id}: {count(run.scanned, 'piece')} looked at, {count(run.tokens, 'token')}.")
    for what, keys in counted.items():
        if keys:
            yield from hanging(f"  {what}: ", ", ".join(keys))
    for note in run.notes:
        yield from hanging("  note: ", note)
    if run.error:
        yield from hanging("  ! ", run.error)
