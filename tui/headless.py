"""Rounds without a screen: a world from its beginning or a save, as far as it goes, with a story, a log of prompts and a summary."""

import asyncio
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer
from pydantic import ValidationError

from engine.errors import OthermindsError
from engine.events import (
    AliasLearned,
    BeatEnded,
    BeatFailed,
    EngineEvent,
    HandoffCommitted,
    HandoffFailed,
    Happened,
    ModelNote,
    Paused,
    Trouble,
)
from engine.game import Game, RoundReport
from engine.llm.caps import with_ways
from engine.llm.cassette import Playback, Recorder, Tape
from engine.records.base import EntityId
from engine.records.clean import clean
from engine.settings import CapSettings, TaskSettings, load_settings
from engine.settings.environment import overridden
from engine.settings.faults import told
from engine.settings.relations import related
from engine.setup import Setup
from tui.paths import is_save
from tui.prompt_log import PromptLog

_OPTIONS: Final = {"run_tokens": "--cap-tokens", "run_money": "--cap-money"}
_OF_MANY: Final = {"does nothing": "do nothing", "remembers later": "remember later"}
_HELP: Final = "See `otherminds run --help`."
_ROUNDS: Final = 10
_INTERRUPTED: Final = "it was interrupted. What was played before is whole."


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be run."""

    start: Path
    """A world, or a save to go on with."""
    rounds: int | None = None
    """None for 10, or for all that are on the tape that is replayed."""
    seed: int | None = None
    save: Path | None = None
    """Where a new save is kept; None keeps none."""
    prompts: Path | None = None
    record: Path | None = None
    replay: Path | None = None
    cap_tokens: int | None = None
    cap_money: float | None = None
    model: str | None = None
    quiet: bool = False
    """Nothing is told but the summary."""

    @property
    def goes_on(self) -> bool:
        """Whether it goes on with a save."""
        return is_save(self.start)

    @property
    def kept(self) -> Path | None:
        """The save that is there afterwards."""
        return self.start if self.goes_on else self.save

    def follow_up(self, rounds: int, raised: Mapping[str, str]) -> str:
        """The command that goes on with the save, with other values for some of its options."""
        words = ["otherminds", "run", str(self.kept), "--rounds", str(rounds)]
        for option, value in (("--model", self.model), ("--cap-tokens", self.cap_tokens), ("--cap-money", self.cap_money)):
            words += [option, raised.get(option, str(value))] if value is not None else []
        words += ["--record", str(self.record)] if self.record is not None else []
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    summary: dict[str, object]
    stopped: str = ""
    """Why it ended before its last round, and what to do; empty when it did not."""
    interrupted: bool = False
    """Whether a person stopped it."""


async def run_rounds(order: Order, save: Path) -> Outcome:
    """Play the rounds of an order; a new save is written to `save`. Raises `OthermindsError`."""
    with ExitStack() as open_files:
        tape: Tape | None = None
        seed = order.seed
        if order.record is not None:
            tape = Recorder(order.record, going_on=order.goes_on)
            open_files.callback(tape.close)
        elif order.replay is not None:
            tape = Playback(order.replay)
            seed = tape.title.seed if seed is None else seed
        sink = open_files.enter_context(PromptLog(order.prompts)) if order.prompts is not None else None
        game = await _opened(order, save, seed, _setup(order, sink, tape))
        try:
            return await _Run(order, game, tape).played()
        finally:
            await game.close()


def _setup(order: Order, sink: PromptLog | None, tape: Tape | None) -> Setup:
    try:
        caps = CapSettings(run_tokens=order.cap_tokens, run_money=order.cap_money)
        model = TaskSettings.model_validate(_names(order.model)) if order.model is not None else None
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise OthermindsError(f"{_OPTIONS.get(str(fault['loc'][0]), '--model')}: {fault['msg']}.", _HELP) from error
    setup = Setup(sink=sink, tape=tape, caps=caps, model=model)
    settings = load_settings()
    wrong = [text for place, text in related(setup.over(settings), settings.endpoint) if place[:2] == ("models", "default")]
    if wrong and model is not None:
        raise OthermindsError(f"--model: {told(wrong[:1])}", _HELP)
    return setup


def _names(model: str) -> list[str]:
    """Models in order, as they are written with commas between them."""
    return [name.strip() for name in model.split(",")]


def in_words(summary: dict[str, object]) -> list[str]:
    """A summary for people, a line each."""
    lines = []
    for key, value in summary.items():
        if isinstance(value, dict):
            value = ", ".join(f"{name} {count}" for name, count in value.items()) or "none"
        if key == "cost":
            value = _price(summary)
        if value is not None and key not in ("known_cost", "unpriced_calls", "paused"):
            lines.append(f"{key.replace('_', ' ')}: {value}")
    return lines


def _price(summary: dict[str, object]) -> str:
    known = f"${summary['known_cost']:.4f}"
    if not summary["unpriced_calls"]:
        return known
    return f"price unknown for {summary['unpriced_calls']} calls, {known} for the others"


async def _opened(order: Order, save: Path, seed: int | None, setup: Setup) -> Game:
    if order.goes_on:
        return await Game.open(order.start, setup=setup)
    return await Game.create(order.start, save, seed, setup=setup)


class _Run:
    """One run of a game that is open."""

    def __init__(self, order: Order, game: Game, tape: Tape | None) -> None:
        self._order, self._game, self._tape = order, game, tape
        self._counts: Counter[str] = Counter()
        self._done = 0
        """Rounds played to their end."""
        self._failed: dict[tuple[str, str], list[EntityId]] = {}
        """What failed in this round, and why: of whom."""
        self._notes: set[str] = set()
        """What was told of models in this round."""
        self._cap = ""
        self._raised: dict[str, str] = {}
        """Options that a cap came with which stopped play, and what to give them instead."""
        self._began = time.monotonic()

    async def played(self) -> Outcome:
        """Play the rounds. Raises `OthermindsError`."""
        self._game.listen(self._hear)
        left = self._rounds()
        interrupted = False
        try:
            why = await self._rounds_played(left)
        except asyncio.CancelledError:  # Ctrl+C: the beat under way is not consumed, all before it is in the save
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            why, interrupted = _INTERRUPTED, True
        if self._order.quiet and sys.stderr.isatty():
            sys.stderr.write("\n")
        await self._tell_what_waits()
        summary = await self._summary(self._done, self._counts["beats"], why)
        stopped = f"Stopped in round {self._game.world.round}: {why}{self._what_next(left - self._done)}" if why else ""
        return Outcome(summary, stopped, interrupted)

    async def _rounds_played(self, left: int) -> str:
        """Play so many rounds; why it ended before, if it did."""
        why = ""
        while self._done < left and not why:
            if why := self._at_the_end():
                break
            report = await self._game.step()
            await self._game.settled()
            why = self._stops(report)
            self._tell_failures(why)
            self._done += not why
            if self._order.quiet and sys.stderr.isatty():
                sys.stderr.write(f"\rround {self._done} of {left}")
        return why

    def _rounds(self) -> int:
        if self._order.rounds is not None:
            return self._order.rounds
        return max(1, self._tape.last_round - self._game.world.round) if isinstance(self._tape, Playback) else _ROUNDS

    def _at_the_end(self) -> str:
        """Why the next round is not on the tape; nothing while it may be."""
        if not isinstance(self._tape, Playback) or self._game.world.round < self._tape.last_round:
            return ""
        return f"{self._tape.path} ends with round {self._tape.last_round}."

    def _stops(self, report: RoundReport) -> str:
        """Why no further round is played; nothing when there is no reason."""
        if self._missing:
            return self._missing
        if report.failed_beats and not report.beats and not report.paused:  # the next round would hardly fare better, and may cost
            return f"Nobody could act. {self._last_reason}"
        return with_ways(report.paused, self._way)

    def _way(self, cap: str, amount: str | None) -> str:
        """How a cap that stopped play is changed: where it was set."""
        option = _OPTIONS.get(cap, "")
        if {"--cap-tokens": self._order.cap_tokens, "--cap-money": self._order.cap_money}.get(option) is not None:
            if amount is None:
                return f"leave out {option}"
            self._raised[option] = amount
            return f"with {option} {amount}"
        if variable := overridden(os.environ).get(("caps", cap)):
            return f"with {variable}={amount} in the environment" if amount else f"unset {variable} in the environment"
        return f"with `otherminds config {f'set caps.{cap} {amount}' if amount else f'unset caps.{cap}'}`"

    @property
    def _last_reason(self) -> str:
        return next((reason for what, reason in reversed(self._failed) if what == "does nothing"), "")

    @property
    def _missing(self) -> str:
        """What is said of the first call that was not on the tape."""
        return self._tape.trouble if isinstance(self._tape, Playback) else ""

    def _what_next(self, left: int) -> str:
        if isinstance(self._tape, Playback):
            return ""
        if self._order.kept is None:
            return "\nNothing of this run is kept: with --save FILE it can be gone on with."
        anew = " (the caps of a run count anew)" if self._cap.startswith("run") else ""
        return f"\nGo on with{anew}: {self._order.follow_up(left, self._raised)}"

    def _hear(self, event: EngineEvent) -> None:
        match event:
            case BeatEnded():
                self._counts.update(beats=1)
            case HandoffCommitted(run=run) | HandoffFailed(run=run) if run.kind == "compression":
                self._counts.update(compressions=int(run.status == "committed"))
            case HandoffCommitted(run=run):
                self._counts.update(runs=1, promoted=run.promoted, forgotten=run.forgotten, pinned=run.pinned)
            case HandoffFailed(run=run):
                self._counts.update(runs=1, failed=1)
            case AliasLearned(change=change) if change.cause in ("introduction", "overheard"):
                self._counts.update(names=1)
            case Paused(cap=cap):
                self._cap = cap
            case BeatFailed(reason=reason) if not self._missing:
                self._failed.setdefault(("does nothing", reason), []).append(event.entity)
            case Happened() if not self._order.quiet and (line := self._game.tell(event, None)):
                typer.echo(f"{line.round:>3}  {line.when}  {line.place}: {line.text}")
            case ModelNote(text=text) | Trouble(text=text) if text not in self._notes:
                self._notes.add(text)
                complain(text)
        if isinstance(event, HandoffFailed) and not self._missing:
            self._failed.setdefault(("remembers later", event.run.error), []).append(event.entity)

    def _tell_failures(self, why: str) -> None:
        """Tell what failed in this round. What the run stops for is told at its end."""
        for (what, reason), whose in self._failed.items():
            names = ", ".join(self._game.name(entity) for entity in whose)
            if not why.endswith(reason):
                complain(f"{names} {what if len(whose) == 1 else _OF_MANY[what]}: {reason}")
        self._failed.clear()
        self._notes.clear()

    async def _tell_what_waits(self) -> None:
        if waiting := len(await self._game.memory.pending()):
            what = f"{waiting} handoff{'s wait' if waiting > 1 else ' waits'} for a person"
            advice = "Play the save to judge them." if self._order.kept else "Keep the save with --save and play it to judge them."
            complain(f"{what}: this world lets handoffs ask first. {advice}")

    async def _summary(self, rounds: int, beats: int, why: str) -> dict[str, object]:
        game, counts, spent = self._game, self._counts, self._game.meter.total
        sizes = await game.sizes()
        return {
            "rounds": game.world.round, "rounds_played": rounds, "beats": beats, "clock": game.world.now.isoformat(),
            "entities": len(game.world.entities), "buffer_entries": sizes.buffer, "ledger_entries": sizes.ledger,
            "handoffs": {key: counts[key] for key in ("runs", "failed", "promoted", "forgotten", "pinned")},
            "compressions": counts["compressions"], "names_learned": counts["names"],
            "model_calls": {task: of.calls for task, of in sorted(game.meter.by_task.items())}, "failed_calls": spent.failed,
            "tokens": spent.tokens, "prompt_tokens": spent.prompt_tokens, "reply_tokens": spent.reply_tokens,
            "estimated_calls": spent.estimated, "cost": None if spent.unpriced else round(spent.cost, 9),
            "known_cost": round(spent.cost, 9), "unpriced_calls": spent.unpriced, "model_seconds": round(spent.seconds, 3),
            "unused_calls": self._tape.unused if isinstance(self._tape, Playback) else None, "paused": why or None,
            "seconds": round(time.monotonic() - self._began, 3),
        }


def complain(text: str) -> None:
    """Something that is not the story, on standard error: of models and worlds, so without control characters."""
    typer.echo(clean(text), err=True)
