"""Authored backstory: what entities remember when the world begins."""

import re
from datetime import datetime
from typing import cast

from engine.files.fields import Fields
from engine.files.phrasing import deed
from engine.files.problems import Report, quoted
from engine.files.references import Known
from engine.files.times import NotATimeError, read_moment
from engine.files.yamltree import Mapping, Scalar
from engine.records.base import EntityId, PlaceId
from engine.records.clean import clean, one_line
from engine.records.intents import Intent, IntentType, Outcome, Verb
from engine.records.memory import Mode, NewBufferEntry, NewLedgerEntry, Pin
from engine.records.tokens import referred

_BUFFER_KEYS = ("at", "kind", "text", "by", "to", "place", "pinned", "modifiers", "failed")
_LEDGER_KEYS = ("at", "until", "text", "who", "importance", "quotes", "place", "kind")
_KINDS: dict[str, IntentType] = {
    "dialogue": "dialogue", "said": "dialogue", "action": "action", "done": "action", "monologue": "monologue", "thought": "monologue",
}  # fmt: skip
_MODES: dict[IntentType, Mode] = {"dialogue": "said", "action": "done", "monologue": "thought"}
_PINS: dict[str, Pin] = {"true": "hand", "yes": "hand", "hand": "hand", "model": "model", "false": "none", "no": "none", "none": "none"}
_LOUDNESS: dict[str, Verb] = {"whispering": "whisper", "shouting": "shout"}
_SUBJECT = re.compile(r"\{\{e:([A-Za-z0-9_.-]+)\}\}\s+(?=\S)")
_NO_VERB = frozenset({
    "a", "an", "another", "each", "every", "he", "her", "his", "i", "it", "its", "my", "nobody", "nothing", "one", "our", "she", "some",
    "somebody", "someone", "something", "that", "the", "their", "there", "these", "they", "this", "we", "you", "your",
})  # fmt: skip
"""First words of a sentence that has a subject of its own, which nobody in the world is."""
_IMPORTANCE = 5
"""Of a memory whose author does not say."""


class Remembering:
    """Reads the memories of one entity."""

    def __init__(self, owner: EntityId, place: PlaceId | None, start: datetime, known: Known) -> None:
        self._owner, self._place, self._start, self._known = owner, place, start, known

    @property
    def _report(self) -> Report:
        return self._known.report

    def buffer(self, node: Mapping, path: str) -> NewBufferEntry | None:
        """One entry of working memory, or None after reporting what is wrong."""
        fields = Fields(node, path, self._report, _BUFFER_KEYS, "a buffer entry")
        at, text = self._moment(fields, "at"), fields.scalar("text", required=True)
        kind = _KINDS.get(fields.choice("kind", tuple(_KINDS), "action", wrong=""))
        by, place = fields.scalar("by"), fields.scalar("place")
        where = self._known.place(place, fields.at("place")) if place else self._place
        actor = self._known.entity(by, fields.at("by")) if by else None
        targets = self._entities(fields, "to")
        modifiers = tuple(self._known.verbatim(scalar, at) for at, scalar in fields.texts("modifiers"))
        pin = _PINS[fields.choice("pinned", tuple(_PINS), "none")]
        failed = fields.scalar("failed")
        reason = self._known.prose(failed, fields.at("failed"), line=True) if failed else ""
        if failed and kind in ("dialogue", "monologue"):
            self._report.add(failed.mark, fields.at("failed"), "only an action can fail")
        if by and kind == "monologue" and actor not in (None, self._owner):
            hint = "a thought belongs to the entity that remembers it"
            self._report.add(by.mark, fields.at("by"), f"nobody perceives the thoughts of {quoted(by.text)}", hint)
        if text is None or kind is None:
            return None
        intent = self._intent(kind, text, fields, actor, by, targets, modifiers)
        if at is None or intent is None:
            return None
        outcome = Outcome(is_valid=not reason, reason=reason) if kind == "action" else None
        return NewBufferEntry(
            owner_id=self._owner, timestamp=at, location_id=where, round=0, intent=intent, outcome=outcome, pinned=pin,
        )  # fmt: skip

    def ledger(self, node: Mapping, path: str) -> NewLedgerEntry | None:
        """One long-term memory, or None after reporting what is wrong."""
        fields = Fields(node, path, self._report, _LEDGER_KEYS, "a ledger entry")
        at, text, place = self._moment(fields, "at"), fields.scalar("text", required=True), fields.scalar("place")
        until = self._moment(fields, "until", required=False)
        who = self._entities(fields, "who")
        importance = fields.whole("importance", 1, 10, _IMPORTANCE)
        quotes = tuple(self._known.verbatim(scalar, at) for at, scalar in fields.texts("quotes"))
        kind = _KINDS[fields.choice("kind", tuple(_KINDS), "action")]
        where = self._known.place(place, fields.at("place")) if place else None
        content = self._known.prose(text, fields.at("text"), line=True) if text else ""
        if at and until and until < at:
            self._report.add(fields.mark("until"), fields.at("until"), "ends before it begins", "`until` is the time of the last event")
        if at is None or not content:
            return None
        return NewLedgerEntry(
            owner_id=self._owner, timestamp=at, ended=until or at, location_id=where, content=content, quotes=quotes,
            involved_entity_ids=tuple(dict.fromkeys((*who, *referred(content)))), importance=importance or _IMPORTANCE, mode=_MODES[kind],
        )  # fmt: skip

    def _intent(
        self, kind: IntentType, text: Scalar, fields: Fields, actor: EntityId | None, by: Scalar | None,
        targets: tuple[EntityId, ...], modifiers: tuple[str, ...],
    ) -> Intent | None:  # fmt: skip
        path = fields.at("text")
        if kind == "dialogue":
            verb = next((_LOUDNESS[word] for word in modifiers if word in _LOUDNESS), "say")
            words = self._known.verbatim(text, path)
            spoken = words[1:-1] if len(words) > 2 and words[0] == words[-1] == '"' else words
            return Intent(type=kind, verb=verb, text=spoken, actor=actor or self._owner, targets=targets, modifiers=modifiers)
        prose = self._known.prose(text, path, line=True)
        if kind == "monologue":
            return Intent(type=kind, verb="think", text=prose, actor=self._owner, modifiers=modifiers)
        subject = _SUBJECT.match(prose)
        if subject and actor and subject.group(1) != actor:
            hint = "leave out `by`, or begin the text with the verb"
            self._report.add(cast(Scalar, by).mark, fields.at("by"), f"`by` is {quoted(actor)}, but the text is about another", hint)
        doer = subject.group(1) if subject else actor or self._owner
        summary = deed(prose[subject.end() :] if subject else prose)
        if not summary.strip(".!?, ") or summary.split()[0].casefold() in _NO_VERB:
            hint = "begin with who did it, or with the verb: `@bob wiped the counter.`"
            self._report.add(text.mark, path, f"does not say who did what: {quoted(text.text)}", hint)
            return None
        mentioned = tuple(entity for entity in referred(summary) if entity != doer)
        aimed = tuple(dict.fromkeys((*targets, *mentioned)))
        return Intent(type=kind, summary=summary, actor=doer, targets=aimed, modifiers=modifiers)

    def _moment(self, fields: Fields, key: str, *, required: bool = True) -> datetime | None:
        scalar = fields.scalar(key, required=required)
        if scalar is None:
            return None
        try:
            return read_moment(one_line(clean(scalar.text)), self._start)
        except NotATimeError as error:
            self._report.add(scalar.mark, fields.at(key), f"{quoted(scalar.text)} is {error}", error.hint)
            return None

    def _entities(self, fields: Fields, key: str) -> tuple[EntityId, ...]:
        found = [self._known.entity(scalar, path) for path, scalar in fields.texts(key)]
        return tuple(dict.fromkeys(entity for entity in found if entity))
