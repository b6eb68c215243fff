"""The reply to a compression: a few of the things that old memories tell, as one memory of one or two sentences."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.llm.storyteller.handoff.account import fit
from engine.llm.storyteller.handoff.cast import Cast, read_cast
from engine.llm.storyteller.handoff.manner import USUAL, Manner
from engine.llm.storyteller.handoff.moments import times
from engine.llm.storyteller.handoff.otherwise import clause_otherwise
from engine.llm.storyteller.language.text import listed, sentences
from engine.records.prompts import split_sections
from engine.records.wire import CompressReply

SECTION = "OLD MEMORIES"
"""Title of the section by which a compression is known."""

_MOST_TOPICS, _MOST_PAIRS, _QUOTES = 3, 2, 2
_WORDS = 60
"""Words from which no further thing is told."""
_LINE = re.compile(r"^\[?(?P<handle>M\d+)\]?:? \[(?P<mode>said|done|thought), (?P<weight>\d+)\] (?P<rest>.+)$")
_QUOTE = re.compile(r'^\s+Quote: "(?P<words>.*)"$')
_WHO = re.compile(r"^\[?(P\d+)\]?:")
_HANDLE = re.compile(r"\bP\d+\b")
_ASKED = re.compile(r"^(?P<who>P\d+) asked (?P<whom>P\d+) (?:more than once )?(?P<topic>.+)$")
_TO = re.compile(
    r"^(?P<who>P\d+) (?:also )?"
    r"(?:asked|told|answered|warned|accused|threatened|ordered|thanked|pressed|reminded|promised|let|spoke to) (?P<whom>P\d+)\b"
)
_REPLY = re.compile(r"^P\d+ (?:answered|replied|denied|agreed|refused|would|could) ")
_THINKING = re.compile(
    r"\b(?:thought|suspected|mistrusted|wondered|wanted|meant|hoped|feared|believed|wished|felt|knew|remembered|was afraid|was sure"
    r"|longed|dreamt)\b"
)
_PRONOUN = re.compile(r"^(?P<who>[Ss]he|[Hh]e)\b")
_AGAIN = "more than once"
_FULL = 20
"""Words from which a thing says no more by being longer."""


@dataclass(frozen=True, slots=True)
class _Memory:
    """One memory of the prompt."""

    handle: str
    mode: str
    weight: int
    place: str
    text: str
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Thing:
    """One thing that a memory tells: a clause, and what was replied to it."""

    at: int
    """Number of its memory."""
    weight: int
    text: str
    reply: str = ""
    times: int = 1

    @property
    def told(self) -> str:
        """The clause as it is told."""
        text = self.text
        if self.times > 1 and _AGAIN not in text:
            asked = _ASKED.match(text)
            text = f"{asked['who']} asked {asked['whom']} {_AGAIN} {asked['topic']}" if asked else f"{text} {_AGAIN}"
        return f"{text}; {self.reply}" if self.reply else text

    @property
    def faint(self) -> bool:
        """Whether it says no more than who spoke to whom."""
        return " also spoke to " in self.text

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """What is told before what: the weightier, what came again, what says more, the earlier."""
        return (-self.weight, -self.times, -min(_FULL, len(self.told.split())), self.at)

    @property
    def pair(self) -> tuple[str, str] | None:
        """Who speaks in it to whom, if anybody does."""
        found = _TO.match(self.text)
        return (found["who"], found["whom"]) if found else None


def compressed(prompt: str, manner: Manner = USUAL) -> str:
    """The reply to a compression as JSON. It depends on the prompt and the manner, and tells nothing that does not stand there."""
    sections = split_sections(prompt)
    memories = _memories(sections.get(SECTION, ""))
    found = _WHO.match(sections.get("WHOSE MEMORY", "").strip())
    owner = found[1] if found else "P1"
    cast = read_cast(sections.get("WHOSE MEMORY", ""), sections.get("PEOPLE", ""), ())
    things = _merged(_things(memories, cast))
    told = _chosen(things, manner)
    used = {thing.at for thing in told}
    people = sorted({handle for memory in memories for handle in _HANDLE.findall(memory.text)} - {owner}, key=lambda each: int(each[1:]))
    rest = [thing for thing in things if thing not in told]
    content = _content(told or rest[:1], rest, manner) or _faintly(owner, people, memories)
    return CompressReply(
        sourceEntryIds=[memory.handle for memory in memories], content=content,
        quotes=_quotes([memory for at, memory in enumerate(memories) if at in used], manner), involvedEntityIds=people,
    ).model_dump_json()


def _memories(section: str) -> list[_Memory]:
    found: list[_Memory] = []
    known = "|".join(re.escape(words) for words in sorted(times(), key=lambda words: (-len(words), words)))
    head = re.compile(rf"^(?:{known}|[a-z][^:]*?)(?:, (?P<place>.+?))?: (?P<text>.+)$")
    for line in section.splitlines():
        quote, match = _QUOTE.match(line), _LINE.match(line.strip())
        if quote and found:
            found[-1] = replace(found[-1], quotes=(*found[-1].quotes, quote["words"]))
        elif match:
            parts = head.match(match["rest"])
            place, text = (parts["place"] or "", parts["text"]) if parts else ("", match["rest"])
            found.append(_Memory(match["handle"], match["mode"], int(match["weight"]), place, text))
    return found


def _things(memories: Sequence[_Memory], cast: Cast) -> list[_Thing]:
    """What the memories tell that can be told again, in order. What was only thought is told only where the words say so."""
    mixed = any(memory.mode != "thought" for memory in memories)
    found: list[_Thing] = []
    for at, memory in enumerate(memories):
        for sentence in sentences(memory.text):
            if not fit(sentence):
                continue
            for thing in _parts(sentence.rstrip(" ."), at, memory.weight, cast):
                if memory.mode != "thought" or not mixed or _THINKING.search(thing.text):
                    found.append(thing)
    return found


def _parts(sentence: str, at: int, weight: int, cast: Cast) -> list[_Thing]:
    """A sentence by its clauses; one in which somebody of the clause before answers it is the reply to that."""
    found: list[_Thing] = []
    before = ""
    for part in sentence.split("; "):
        clause = _named(part, before, cast)
        before = f"{before} {clause}"
        if found and not found[-1].reply and _answers(clause, found[-1].text):
            found[-1] = replace(found[-1], reply=clause)
        elif clause:
            found.append(_Thing(at, weight, clause))
    return found


def _named(clause: str, before: str, cast: Cast) -> str:
    """A clause that begins with `she`, with the handle of whom it means: the one of those named before who can be a woman."""
    pronoun = _PRONOUN.match(clause)
    named = [one for handle in dict.fromkeys(_HANDLE.findall(before)) if not (one := cast.person(handle)).owner]
    if pronoun is None:
        return clause
    fitting = [one for one in named if one.gender == pronoun["who"].lower()] or [one for one in named if one.gender == "they"]
    return f"{fitting[-1].handle}{clause[pronoun.end() :]}" if fitting else clause


def _answers(clause: str, before: str) -> bool:
    """Whether a clause is what came of the one before it."""
    who = _HANDLE.match(clause)
    if who is None or _ASKED.match(clause) or " also spoke to " in clause:
        return False
    return _REPLY.match(clause) is not None or who[0] in _HANDLE.findall(before)[1:]


def _merged(things: Iterable[_Thing]) -> list[_Thing]:
    """The things, each once: what was told of several times, and several questions of one to another with one reply, or none."""
    once: dict[tuple[str, str], _Thing] = {}
    for thing in things:
        key = (thing.text.casefold(), thing.reply.casefold())
        held = once.get(key)
        once[key] = replace(held, times=held.times + 1, weight=max(held.weight, thing.weight)) if held else thing
    asked: dict[tuple[str, str, str], _Thing] = {}
    found: list[_Thing] = []
    for thing in once.values():
        match = _ASKED.match(thing.text)
        if match is None:
            found.append(thing)
            continue
        key_ = (match["who"], match["whom"], thing.reply.casefold())
        held = asked.get(key_)
        asked[key_] = _with_topic(held, match["topic"], thing) if held else thing
    return sorted([*found, *asked.values()], key=lambda thing: thing.at)


def _with_topic(held: _Thing, topic: str, thing: _Thing) -> _Thing:
    """A question with one more thing that was asked."""
    weight = max(held.weight, thing.weight)
    known = topic.casefold() in held.text.casefold()
    if known or held.text.count(", and ") + 1 >= _MOST_TOPICS or " and still " in held.text + topic:
        return replace(held, weight=weight)
    return replace(held, text=f"{held.text}, and {topic}", weight=weight)


def _chosen(things: Sequence[_Thing], manner: Manner) -> list[_Thing]:
    """The things that rank first, as many as one memory bears, in order of time; of one memory a second one only when there is room."""
    ranked = sorted((thing for thing in things if not thing.faint), key=lambda thing: thing.rank)
    first = [thing for at, thing in enumerate(ranked) if all(thing.at != before.at for before in ranked[:at])]
    kept: list[_Thing] = []
    for thing in dict.fromkeys([*first, *ranked]):
        words = sum(len(each.told.split()) for each in (*kept, thing))
        if len(kept) < manner.choice.most - 1 and (not kept or words <= _WORDS):
            kept.append(thing)
    return [thing for thing in things if thing in kept]


def _content(told: Sequence[_Thing], rest: Sequence[_Thing], manner: Manner) -> str:
    """One or two sentences: the first thing, then the others and who else spoke to whom; or each thing in one of its own."""
    if not told:
        return ""
    first, *clauses = [_worded(thing, manner) for thing in told]
    met = {frozenset(pair) for thing in told if (pair := thing.pair)}
    spoke: dict[str, list[str]] = {}
    for pair in (thing.pair for thing in rest):
        if pair and frozenset(pair) not in met and len(met) < len(told) + _MOST_PAIRS:
            met.add(frozenset(pair))
            spoke.setdefault(pair[0], []).append(pair[1])
    clauses += [f"{who} also spoke to {listed(whom)}" for who, whom in spoke.items()]
    parts = (first, "; ".join(clauses)) if manner.joined else (first, *clauses)
    return " ".join(f"{part}." for part in parts if part)


def _worded(thing: _Thing, manner: Manner) -> str:
    """A thing in the words of a manner. What came more than once is said so in the words it has."""
    if not manner.anew:
        return thing.told
    text = clause_otherwise(thing.text) if thing.times == 1 else thing.text
    return replace(thing, text=text, reply=clause_otherwise(thing.reply)).told


def _faintly(owner: str, people: Sequence[str], memories: Sequence[_Memory]) -> str:
    """When nothing can be told again: with whom the time was passed."""
    place = next((f" {memory.place}" for memory in memories if memory.place), "")
    return f"{owner} had to do with {listed(list(people))}{place}." if people else f"{owner} passed a while{place}."


def _quotes(memories: Sequence[_Memory], manner: Manner) -> list[str]:
    """Words of the weightiest memories, at the most two, in the order they were said; other ones as the manner has it."""
    held = [(memory.weight, at, quote) for at, memory in enumerate(memories) for quote in memory.quotes]
    ranked = sorted(held, key=lambda each: (-each[0], each[1]))
    if manner.quotes == "further" and len(ranked) > 1:
        ranked = ranked[1:]
    best = ranked[: 1 if manner.quotes == "one" else _QUOTES]
    return list(dict.fromkeys(quote for _, _, quote in sorted(best, key=lambda each: each[1])))
