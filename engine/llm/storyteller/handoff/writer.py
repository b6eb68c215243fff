"""The reply to a handoff: what is kept, how it is told, what stays pinned. What is in no chunk is forgotten."""

import re
from collections.abc import Collection, Sequence

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.handoff.account import (
    answer_to,
    chosen,
    content,
    exchanges,
    lone_reply,
    once,
    quotes,
    says_nothing,
    tellable,
)
from engine.llm.storyteller.handoff.beats import AMBIENT, Beat, gathered
from engine.llm.storyteller.handoff.cast import Cast, is_person
from engine.llm.storyteller.handoff.compressing import SECTION, compressed
from engine.llm.storyteller.handoff.deeds import deed_report
from engine.llm.storyteller.handoff.halves import GROUPS, MOMENTS, first_half, second_half
from engine.llm.storyteller.handoff.manner import USUAL, Manner, answer
from engine.llm.storyteller.handoff.moments import Moment, Story, near, read_story
from engine.llm.storyteller.handoff.pronouns import softened
from engine.llm.storyteller.handoff.report import Report, Scene
from engine.llm.storyteller.handoff.speech import spoken_report
from engine.llm.storyteller.handoff.thoughts import thought_report
from engine.llm.storyteller.handoff.threads import Thread, kept_open, threads_in
from engine.records.prompts import split_sections
from engine.records.wire import HandoffChunk, HandoffReply

_HANDLE = re.compile(r"\bP\d+\b")
_THOUGHT = 4
"""The most that mere thoughts weigh."""
_OVERHEARD = 6
"""Weight up to which what is only overheard weighs one less."""
_ASKING = frozenset(("ask", "request", "accuse", "press", "offer", "reproach"))
_WEIGHTY = 4
"""Weight from which a question makes its answer worth hearing."""


def remember(request: ModelRequest) -> str:
    """The reply to task `handoff` as JSON, which judges moments, does one half of that, or tells old memories as one.

    It depends on the prompt and on how often the same was asked before, and on nothing else.
    """
    prompt = request.messages[-1].content
    sections = split_sections(prompt)
    if SECTION in sections:
        return answer(request.attempt, lambda manner: compressed(prompt, manner))
    if MOMENTS in sections:
        return answer(request.attempt, lambda manner: first_half(prompt, manner, _chunks_in))
    if GROUPS in sections:
        return answer(request.attempt, lambda manner: second_half(prompt, manner, _chunks_in))
    story = read_story(prompt)
    reports = reported(story)
    return answer(request.attempt, lambda manner: HandoffReply(chunks=chunks_of(story, reports, manner)).model_dump_json())


def _chunks_in(prompt: str, manner: Manner) -> list[HandoffChunk]:
    story = read_story(prompt)
    return chunks_of(story, reported(story), manner)


def chunks_of(story: Story, reports: Sequence[Report], manner: Manner = USUAL) -> list[HandoffChunk]:
    """What its owner keeps of a story, told in `reports`, in order; at least one chunk when it tells anything."""
    cast, owner = story.cast, story.cast.owner
    threads = threads_in(reports, owner)
    apart = {report.moment.index for thread in threads for report in _sources(thread)}
    beats = gathered([report for report in reports if report.moment.index not in apart], owner)
    pinned = kept_open(threads) if manner.retain else set()
    made: list[HandoffChunk] = []
    for thread in threads:
        cited = {handle for chunk in made for handle in chunk.sourceEntryIds}
        made += _of_thread(thread, pinned, cited, cast, manner)
    made += [chunk for beat in _worth(beats, owner, len(threads), manner) for chunk in _of_beat(beat, cast, manner)]
    if not made and reports:
        made = [_faintest(reports, cast, manner)]
    order = {moment.handle: moment.index for moment in story.moments}
    return sorted(made, key=lambda chunk: order[chunk.sourceEntryIds[0]])


def reported(story: Story) -> list[Report]:
    """Every moment of a story as a report."""
    scene, found = Scene.of(story), list[Report]()
    persons = scene.acting | {handle for handle, person in story.cast.people.items() if is_person(person.name)}
    for moment in story.moments:
        if moment.mode == "said":
            found.append(spoken_report(moment, scene, _question_before(moment, found), found))
        elif moment.mode == "done":
            found.append(deed_report(moment, scene))
        else:
            found.append(thought_report(moment, scene, _meant(moment, story, persons)))
    return found


def _question_before(moment: Moment, found: Sequence[Report]) -> Report | None:
    """The weighty question that a speech may answer: the last thing said to its speaker by one it speaks to."""
    for report in reversed(found):
        talking = report.moment.mode == "said" or report.act == "ask"
        if not talking or moment.who not in report.moment.people:
            continue
        if report.subject == moment.who or report.moment.place != moment.place or not near(report.moment, moment):
            return None
        to_asker = report.subject in moment.to or not moment.to
        return report if to_asker and report.act in _ASKING and report.weight >= _WEIGHTY else None
    return None


def _meant(moment: Moment, story: Story, persons: frozenset[str]) -> str:
    """Whom a thought means by `he` or `she`: the one other person of the moment before it."""
    for before in reversed(story.moments[: moment.index]):
        if before.place != moment.place or not near(before, moment) or moment.index - before.index > 3:
            return ""
        others = {handle for handle in before.people if handle in persons and handle != moment.who}
        if others:
            return next(iter(others)) if len(others) == 1 else ""
    return ""


def _sources(thread: Thread) -> list[Report]:
    return [*thread.reports, *([thread.settled_by] if thread.settled_by is not None else [])]


def _of_thread(thread: Thread, pinned: set[int], cited: Collection[str], cast: Cast, manner: Manner) -> list[HandoffChunk]:
    """The chunks of a thread: its newest entries while it hangs; with what settled it when it is done, unless that is `cited` already.

    What is new in it and not pinned is a memory of its own. What was pinned before is in the ledger already: left out, it is let go.
    """
    reports = [report for report in _sources(thread) if report.moment.handle not in cited]
    retained = [report for report in reports if report.moment.index in pinned]
    rest = [report for report in reports if report not in retained and (not retained or not report.moment.pinned)]
    parts = ((retained, True), (rest, False))
    return [
        _chunk(told, used, max(report.weight for report in used), cast, manner, retain=retain)
        for used, retain in parts
        if (told := _tellable(used))
    ]


def _tellable(reports: Sequence[Report]) -> list[Report]:
    """Those that can be told; if none can, at least who had to do with whom."""
    told = once([report for report in reports if tellable(report)])
    return told or [_spoken_with(report) for report in reports[:1] if report.subject]


def _spoken_with(report: Report) -> Report:
    """A report that at least says who had to do with whom."""
    whom = " and ".join(report.moment.to)
    return Report(report.moment, f"spoke to {whom}" if whom else "was there", report.act, report.weight, report.quote, bare=True)


def _worth(beats: Sequence[Beat], owner: str, threads: int, manner: Manner) -> list[Beat]:
    """The beats worth keeping. When there are plenty, light ones give way."""
    weights = [_importance(chosen(beat.reports, manner), owner) for beat in beats]
    kept = [(beat, weight) for beat, weight in zip(beats, weights, strict=True) if weight > AMBIENT]
    room = max(1, manner.choice.room - threads)
    if len(kept) <= room:
        return [beat for beat, _ in kept]
    ranked = sorted(kept, key=lambda each: (-each[1], not each[0].pairs(), -each[0].reports[0].moment.index))
    heavy = [beat for beat, weight in ranked if weight > manner.choice.light]
    staying = heavy if len(heavy) >= room else [beat for beat, _ in ranked[:room]]
    return [beat for beat, _ in kept if beat in staying]


def _importance(told: Sequence[Report], owner: str) -> int:
    """1 to 10: of the weightiest moment that is told of a beat, less for thoughts and for what was only overheard; 0 for nothing."""
    if not told:
        return 0
    heaviest = max(told, key=lambda report: report.weight)
    if all(lone_reply(report, told) for report in told):
        return AMBIENT
    if all(report.moment.mode == "thought" for report in told):
        return min(_THOUGHT, heaviest.weight)
    concerned = any(owner in report.moment.people for report in told if report.weight == heaviest.weight)
    return heaviest.weight if concerned or heaviest.weight > _OVERHEARD else max(1, heaviest.weight - 1)


def _of_beat(beat: Beat, cast: Cast, manner: Manner) -> list[HandoffChunk]:
    """One chunk, or one for each exchange in it. What is not light but untold is a source of the one before it."""
    told = chosen(beat.reports, manner)
    indexes = {report.moment.index for report in told}
    used = [report for report in beat.reports if report.moment.index in indexes or report.weight > AMBIENT or _answers(report, told, beat)]
    parts = exchanges(told) if manner.apart else [told]
    home = {report.moment.index: at for at, part in enumerate(parts) for report in part}
    sources: list[list[Report]] = [[] for _ in parts]
    at = 0
    for report in used:
        at = home.get(report.moment.index, at)
        sources[at].append(report)
    return [_chunk(part, uses, _importance(part, cast.owner), cast, manner) for part, uses in zip(parts, sources, strict=True)]


def _answers(report: Report, told: Sequence[Report], beat: Beat) -> bool:
    """Whether a light moment belongs to the account all the same: it answers something told in it."""
    return any(answer_to(one, beat.reports) is report for one in told)


def _faintest(reports: Sequence[Report], cast: Cast, manner: Manner) -> HandoffChunk:
    """When all was ambient: the least ambient moment that says anything by itself, because keeping nothing is no answer."""
    best = max(reports, key=lambda report: (tellable(report), not says_nothing(report), report.weight, -report.moment.index))
    if not tellable(best):
        place = f" {best.moment.place}" if best.moment.place else ""
        return HandoffChunk(
            sourceEntryIds=[best.moment.handle], content=f"{cast.owner} passed a quiet while{place}.", quotes=[], importance=1,
            involvedEntityIds=[], retainInBuffer=False,
        )  # fmt: skip
    return _chunk([best], [best], min(AMBIENT, best.weight), cast, manner)


def _chunk(
    told: Sequence[Report], used: Sequence[Report], importance: int, cast: Cast, manner: Manner, *, retain: bool = False
) -> HandoffChunk:
    account = softened(content(told, manner), cast)
    people = [handle for report in used for handle in (report.subject, *report.moment.to)] + _HANDLE.findall(account)
    return HandoffChunk(
        sourceEntryIds=[report.moment.handle for report in used],
        content=account,
        quotes=quotes(told, used, manner),
        importance=min(10, max(1, importance + manner.heavier)),
        involvedEntityIds=sorted({handle for handle in people if handle and handle != cast.owner}, key=lambda handle: int(handle[1:])),
        retainInBuffer=retain,
    )
