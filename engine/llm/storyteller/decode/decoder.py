"""Prose into intents: the pieces in order, with whom each is directed at."""

import re
from dataclasses import dataclass, field, replace

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.decode.bare import is_speech, spoken_bare, tells_something
from engine.llm.storyteller.decode.clauses import Person, Predicate, Told, person_of, told
from engine.llm.storyteller.decode.deeds import Deed, classify, named
from engine.llm.storyteller.decode.recast import past_joined, past_summary, phrase
from engine.llm.storyteller.decode.reported import reported_words
from engine.llm.storyteller.decode.segments import Segment, segments
from engine.llm.storyteller.decode.tags import Tag, inverted, read_tag, speaks, split_tag
from engine.llm.storyteller.decode.vocatives import addressed
from engine.llm.storyteller.language.names import Mention
from engine.llm.storyteller.language.roster import Roster, read_roster
from engine.llm.storyteller.language.text import capital, sentences
from engine.records.intents import Verb
from engine.records.prompts import split_sections
from engine.records.wire import DecodeReply, WireIntent

_ALONE = frozenset(("go", "take", "give", "drop", "open", "close", "lock", "unlock", "sleep", "wake"))
_CONNECTIVES = frozenset(("and", "but", "so", "then", "still", "yet", "now", "after a moment", "at last", "finally", "instead", "again"))
_MAX_INTENTS = 12


def decode(request: ModelRequest) -> str:
    """The reply to task `decode` as JSON."""
    sections = split_sections(request.messages[-1].content)
    roster = read_roster(sections.get("WHO", ""), sections.get("WAYS", ""))
    intents = Decoder(roster).decode(sections.get("PROSE", "").strip())
    return DecodeReply(intents=intents).model_dump_json()


@dataclass
class Marked:
    """A sentence with its names replaced by handles, able to give back the words a part of it was made of."""

    text: str
    spans: list[tuple[int, int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, original: str, mentions: list[Mention]) -> "Marked":
        """Replace the mentions found in a sentence."""
        marked = cls("")
        position = 0
        for mention in mentions:
            marked.text += original[position : mention.start]
            start = len(marked.text)
            marked.text += mention.key
            marked.spans.append((start, len(marked.text), original[mention.start : mention.end]))
            position = mention.end
        marked.text += original[position:]
        return marked

    def original(self, part: str) -> str:
        """The words of the prose behind a part of the marked text."""
        at = self.text.find(part)
        if at < 0:
            return part
        pieces: list[str] = []
        position = at
        for start, end, words in self.spans:
            if start >= at and end <= at + len(part):
                pieces += [self.text[position:start], words]
                position = end
        return "".join([*pieces, self.text[position : at + len(part)]])


class Decoder:
    """Decodes one piece of prose. Remembers who and what was named last, for pronouns and for whom speech is meant."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._intents: list[WireIntent] = []
        self._last_person = ""
        self._last_thing = ""
        self._spoken_to: tuple[str, ...] = ()
        self._near: tuple[str, ...] = ()
        """People the deeds since the last speech were directed at."""
        self._tag: Tag | None = None
        self._person: Person = "first"

    def decode(self, prose: str) -> list[WireIntent]:
        """The intents of the prose, in order; a wait when it tells only of what others do, none when nothing in it can be understood."""
        parts = [] if is_speech(prose) else segments(prose)
        self._person = person_of(" ".join(part.text for part in parts if part.kind == "telling"))
        for at, part in enumerate(parts):
            before = parts[at - 1] if at else None
            after = parts[at + 1] if at + 1 < len(parts) else None
            if part.kind == "speech":
                self._speech(part.text)
            elif part.kind == "thought":
                self._add("monologue", "think", part.text)
            else:
                self._telling(part.text, before, after)
        if not self._intents:
            self._unmarked(prose)
        return [_finished(intent) for intent in self._intents[:_MAX_INTENTS]]

    def _unmarked(self, prose: str) -> None:
        """Prose in which nothing is told of its teller: words that are speech by themselves, a look at the world, or gibberish."""
        said = spoken_bare(prose)
        if said:
            loud = said.endswith("!") and len(said.split()) <= 3
            targets = self._listeners(Tag(), addressed(said, self._roster))
            self._add("dialogue", "shout" if loud else "say", said, targets=targets, modifiers=("shouting",) if loud else ())
        elif tells_something(prose):
            self._add("action", "wait", prose, summary="waited")

    def _speech(self, words: str) -> None:
        tag, self._tag = self._tag or Tag(), None
        last = self._intents[-1] if self._intents else None
        called = addressed(words, self._roster)
        same = tag in (Tag(), Tag(targets=tuple(last.targets))) if last is not None else False
        if last is not None and last.type == "dialogue" and same and not set(called) - set(last.targets):
            self._intents[-1] = last.model_copy(update={"text": f"{last.text} {words}"})
            return
        self._add("dialogue", tag.verb, words, targets=self._listeners(tag, called), modifiers=tag.modifiers)
        self._meanwhile(tag)

    def _listeners(self, tag: Tag, called: tuple[str, ...]) -> tuple[str, ...]:
        """Whom words are meant for: the tag says, else who is called by name, else who was nearest, else the one other here."""
        if tag.aside:
            return ()
        here = [one.handle for one in self._roster.others if not one.beyond]
        found = tag.targets or called or self._near[-1:] or self._spoken_to or (tuple(here) if len(here) == 1 else ())
        self._spoken_to = found
        self._near = ()
        if found:
            self._last_person = found[0]
        return found

    def _telling(self, text: str, before: Segment | None, after: Segment | None) -> None:
        found = sentences(text)
        for at, sentence in enumerate(found):
            sentence = sentence.lstrip(",;: ")
            marked = Marked.of(sentence, self._roster.names.mentions(sentence))
            follows = at == 0 and before is not None and before.kind == "speech"
            leads = at == len(found) - 1 and after is not None and after.kind == "speech"
            if not sentence or (follows and self._tagged_after(marked)):
                continue
            clause = told(marked.text, self._person)
            if leads and self._tagged_before(marked, clause):
                continue
            self._deeds(marked, clause)

    def _tagged_after(self, marked: Marked) -> bool:
        """Whether a sentence right after a speech tells how it was said; if so, takes it in."""
        turned = inverted(marked.text)
        clause = Told(marked.text, (turned,)) if turned else told(marked.text, self._person, bare=False)
        if not clause.predicates or not speaks(clause.predicates[0], beside_speech=True) or not self._intents:
            return False
        tag = read_tag(clause.predicates[0], self._roster, self._last_person, self._person)
        last = self._intents[-1]
        if last.type == "dialogue":
            called = addressed(last.text, self._roster)
            targets = tag.targets or (() if tag.aside else called or tuple(last.targets))
            verb = tag.verb if tag.verb != "say" else last.verb
            modifiers = list(dict.fromkeys([*last.modifiers, *tag.modifiers]))
            self._intents[-1] = last.model_copy(update={"verb": verb, "targets": list(targets), "modifiers": modifiers})
            self._spoken_to = targets
        self._meanwhile(tag)
        if clause.predicates[1:]:
            self._deeds(marked, replace(clause, predicates=clause.predicates[1:], opening=""))
        return True

    def _tagged_before(self, marked: Marked, clause: Told) -> bool:
        """Whether a sentence leads into a speech; if so, keeps its tag for it. What else it tells is done first."""
        earlier, saying, _ = split_tag(clause)
        ended = marked.text.rstrip()[-1:] in ".!?…"
        if saying is None or (ended and reported_words(saying, self._roster)):
            return False
        deeds = [one for one in earlier if one.verb.base not in ("turn", "lean", "look", "face", "bend")]
        turned = [one.handle for one in named(" ".join(p.rest for p in earlier), self._roster, self._last_person) if not one.thing]
        opening = [one.handle for one in named(clause.opening, self._roster) if not one.thing]
        tag = read_tag(saying, self._roster, (turned or [self._last_person])[-1], self._person)
        self._tag = replace(tag, targets=tag.targets or tuple(opening[-1:]) or (() if tag.aside else tuple(turned[-1:])))
        if deeds:
            self._deeds(marked, replace(clause, predicates=tuple(deeds)))
        return True

    def _meanwhile(self, tag: Tag) -> None:
        if tag.beside is not None:
            self._deeds(Marked(tag.beside.source), Told(tag.beside.source, (tag.beside,)))

    def _deeds(self, marked: Marked, clause: Told) -> None:
        group: list[tuple[Predicate, Deed, str]] = []
        classified = [(one, classify(one, self._roster, self._last_person, self._last_thing)) for one in clause.predicates]
        if classified and all(deed.thought for _, deed in classified):
            if self._person == "first":
                self._add("monologue", "think", marked.original(marked.text.strip()))
            return
        opening = clause.opening
        for at, (predicate, _) in enumerate(classified):
            deed = classify(predicate, self._roster, self._last_person, self._last_thing)
            following = self._following(predicate, classified[at + 1][0]) if at + 1 < len(classified) else None
            if deed.thought or _mere_approach(predicate, following):
                self._note(predicate, deed)
                continue
            if self._reported(predicate):
                continue
            it = self._last_thing if self._last_thing in deed.targets else ""
            summary = past_summary(predicate, self._person, self._last_person, it)
            self._note(predicate, deed)
            if deed.verb == "sleep":
                group.append((predicate, deed, self._opened(summary, opening)))
                opening = ""
            elif deed.verb in _ALONE:
                self._group(marked, group)
                self._act(marked, [(predicate, deed, self._opened(summary, opening))])
                group, opening = [], ""
            else:
                group.append((predicate, deed, self._opened(summary, opening)))
                opening = ""
        self._group(marked, group)

    def _following(self, predicate: Predicate, then: Predicate) -> Deed:
        """The deed that comes next, `it` and `them` meaning what this one names."""
        things = [one.handle for one in named(predicate.rest, self._roster) if one.thing]
        return classify(then, self._roster, self._last_person, things[-1] if things else self._last_thing)

    def _group(self, marked: Marked, group: list[tuple[Predicate, Deed, str]]) -> None:
        if group:
            self._act(marked, group)

    def _act(self, marked: Marked, group: list[tuple[Predicate, Deed, str]]) -> None:
        verbs: set[Verb] = {deed.verb for _, deed, _ in group}
        verb: Verb = "sleep" if "sleep" in verbs else verbs.pop() if len(verbs) == 1 else "other"
        targets = tuple(dict.fromkeys(target for _, deed, _ in group for target in deed.targets if verb != "other" or target[0] == "P"))
        first, last = group[0][0].source, group[-1][0].source
        start, end = marked.text.find(first), marked.text.find(last)
        whole = marked.text[start : end + len(last)] if 0 <= start <= end else first
        source = marked.text.strip() if start >= 0 and _alone(marked.text, start, end + len(last)) else whole
        self._add("action", verb, marked.original(source), summary=past_joined([text for *_, text in group]), targets=targets)

    def _reported(self, predicate: Predicate) -> bool:
        words = reported_words(predicate, self._roster)
        if not words:
            return False
        tag = read_tag(predicate, self._roster, self._last_person, self._person)
        for one in self._roster.listed:
            words = re.sub(rf"\b{one.handle}\b", one.name, words)
        whom = tag.targets[:1] if tag.targets else ()
        listeners = self._listeners(replace(tag, targets=whom), ())
        loud = tag.verb == "say" and words == "Help!"
        modifiers = ("shouting",) if loud else tag.modifiers[:1]
        self._add("dialogue", "shout" if loud else tag.verb, capital(words), targets=listeners, modifiers=modifiers)
        return True

    def _opened(self, summary: str, opening: str) -> str:
        """The summary with what stood before the subject: `with a sigh`, `slowly`."""
        opening = opening.strip(" ,")
        opening = opening[:1].lower() + opening[1:] if not re.match(r"P\d", opening) else opening
        opening = re.sub(r"^(?:and|but|so|then|still|yet)\b\s*", "", opening)
        if not opening or opening in _CONNECTIVES or re.match(r"(?:after a|for a|at last|in the end)", opening):
            return summary
        if re.fullmatch(r"\w+ly", opening):
            return f"{opening} {summary}"
        joint = " " if re.match(r"(?:when|while|as|before|after|with|without|in|at|on|from|under|by|if|once|until)\b", opening) else ", "
        return f"{summary}{joint}{phrase(opening, self._person, self._last_person)}"

    def _note(self, predicate: Predicate, deed: Deed) -> None:
        """Remember who and what was named, for the pronouns and speeches that follow."""
        handles = named(predicate.rest, self._roster, self._last_person, self._last_thing)
        people = [one.handle for one in handles if not one.thing]
        things = [one.handle for one in handles if one.thing]
        if people:
            self._last_person, self._near = people[-1], tuple(people)
        if things:
            self._last_thing = things[-1]

    def _add(
        self, kind: str, verb: Verb, text: str, *, summary: str = "", targets: tuple[str, ...] = (), modifiers: tuple[str, ...] = ()
    ) -> None:
        values = {"type": kind, "verb": verb, "text": text, "summary": summary, "targets": list(targets), "modifiers": list(modifiers)}
        self._intents.append(WireIntent.model_validate(values))


def _finished(intent: WireIntent) -> WireIntent:
    """Speech that its tag cut short with a comma ends with a full stop."""
    ends_short = intent.type == "dialogue" and intent.text.endswith(",")
    return intent.model_copy(update={"text": intent.text[:-1] + "."}) if ends_short else intent


def _mere_approach(predicate: Predicate, following: Deed | None) -> bool:
    """`reach for the key` before taking it, `go` before `and open`, `turn to` before a deed to the same person."""
    base, rest = predicate.verb.base, predicate.rest
    if following is None:
        return False
    return (base == "reach" and following.verb == "take") or (base in ("go", "come", "turn", "rise") and not rest)


def _alone(text: str, start: int, end: int) -> bool:
    """Whether a part is all that a sentence tells, but for its subject and marks."""
    return not re.search(r"\w{3,}", text[end:]) and len(re.findall(r"\w+", text[:start])) <= 2
