"""The ways in which a model's reply can be spoilt, and what each may still be good for."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Literal, NamedTuple

from engine.llm.protocol import ModelRequest

Use = Literal["never", "as before", "perhaps"]
"""What a spoilt reply is good for: `never` for anything; `as before`, with nothing kept of what was added to it; `perhaps` for
something, so that only what always holds can be asserted."""
Spoil = Callable[[Random, ModelRequest, str, str], str | None]
"""From chance, request, good reply and mark to the spoilt reply; None where it cannot be done. Of replies that may be used, no mark is
looked for unless it stands in what was added."""

_PROSE = ("content", "text", "reason", "summary")
_OTHERS: Mapping[str, Any] = {
    "decode": {"intents": [{"type": "dialogue", "verb": "say", "text": "{}", "summary": "", "targets": [], "modifiers": []}]},
    "referee": {"reason": "{}", "possible": True, "minutes": 3, "changes": []},
    "handoff": {"chunks": [{"sourceEntryIds": ["M1"], "content": "P1 spoke of {}.", "quotes": [], "importance": 5,
                            "involvedEntityIds": [], "retainInBuffer": False}]},
    "collapse": {"outcome": "resolved", "goal": "{}", "relevantEntities": [], "facts": [], "decisions": [], "strategies": [],
                 "discoveries": [], "nextSteps": []},
}
_NO_ACCOUNTS = (
    "I saw {}.", "You met {}.", "buf-12 told of {}.", "As an AI language model, I cannot summarize {}.", '"chunks": [{}]',
    "Unable to summarize {}.", "{} " * 130, "P3 demanded the toll from P1 and swore to come back at dawn.", "", "M1 and M2: {}.", "string",
)
_ODD = "\x00\x07\x1b[2J\x1b]0;gone\x07\u202e\u200b\ud800\udfff\ufeff\uffff\r\u2028é漢😀\"\\{}[]<>,:'`"


class Corruption(NamedTuple):
    """One way to spoil a reply."""

    name: str
    use: Use
    spoil: Spoil
    cut: bool = False
    """Whether the model was stopped before the end."""


def _json(text: str) -> Any:
    return json.loads(text)


def _marked(value: Any, mark: str) -> Any:
    """A reply with the mark at the end of all that is told in it."""
    if isinstance(value, dict):
        return {k: f"{v} {mark}" if k in _PROSE and isinstance(v, str) else _marked(v, mark) for k, v in value.items()}
    return [_marked(each, mark) for each in value] if isinstance(value, list) else value


def _strings(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """A reply with its strings changed; `change` gets key and text."""
    if isinstance(value, dict):
        return {k: _strings(v, change, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_strings(each, change, key) for each in value]
    return change(key, value) if isinstance(value, str) else value


def _cut(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    whole = json.dumps(_marked(_json(text), mark))
    ends = [found.end() for found in re.finditer(r"[\]}]", whole[:-1])]
    return whole[: chance.choice([*ends, 1, *(chance.randrange(1, len(whole)) for _ in ends)])]


def _drafted_then_cut(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    return f"{json.dumps(_marked(_json(text), mark))}\nNo, better:\n{_cut(chance, request, text, mark)}"


def _another_task(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    task = chance.choice([task for task, reply in _OTHERS.items() if reply.keys() != _json(text).keys()])
    return json.dumps(_OTHERS[task]).replace("{}", mark)


def _schema(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    assert request.response is not None
    return json.dumps(request.response.model_json_schema() | {"description": mark})


def _not_a_number(chance: Random, request: ModelRequest, text: str, mark: str) -> str | None:
    found = re.sub(r"(?<=:)\s*\d+", lambda _: chance.choice([" NaN", " Infinity", " -Infinity", " 1e999", ' "many"']),
                   json.dumps(_marked(_json(text), mark)))
    return found if re.search(r"NaN|Infinity|1e999|many", found) else None


def _wrong_type(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    value = _marked(_json(text), mark)
    key = chance.choice(sorted(value))
    wrong = {key: {"is": mark}} if isinstance(value[key], str) else {key: chance.choice([mark, {"is": mark}, None])}
    return json.dumps(value | wrong)


def _missing(chance: Random, request: ModelRequest, text: str, mark: str) -> str | None:
    assert request.response is not None
    value = _marked(_json(text), mark)
    required = [name for name, held in request.response.model_fields.items() if held.is_required() and name in value]
    if not required:
        return None
    del value[chance.choice(required)]
    return json.dumps(value)


def _no_account(wrong: str) -> Spoil:
    """A handoff whose accounts cannot be kept, though its form is right."""

    def spoil(chance: Random, request: ModelRequest, text: str, mark: str) -> str | None:
        if request.task != "handoff" or '"content"' not in text:
            return None
        return json.dumps(_strings(_json(text), lambda key, said: wrong.replace("{}", mark) if key == "content" else said))

    return spoil


def _no_candidates(chance: Random, request: ModelRequest, text: str, mark: str) -> str | None:
    """A handoff that cites what it was not offered."""
    if request.task != "handoff" or '"sourceEntryIds"' not in text:
        return None
    odd = ["M900", "P1", "buf-1", "", "-1", "M1; M2", "all", "M" + "9" * 400]
    value = _marked(_json(text), mark)
    for part in value.get("chunks") or value.get("groups") or [value]:
        part["sourceEntryIds"] = chance.sample(odd, 3)
    return json.dumps(value)


def _nothing_in_it(chance: Random, request: ModelRequest, text: str, mark: str) -> str | None:
    value = _json(text)
    lists = [key for key in ("intents", "chunks", "groups", "told", "sourceEntryIds") if key in value]
    return json.dumps(_marked(value, mark) | {lists[0]: []}) if lists else None


def _drafted(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    tag = chance.choice(["think", "thinking", "reasoning", "scratchpad"])
    return f"<{tag}>{mark} {json.dumps(_marked(_json(text), mark))}</{tag}>\n{text}"


def _more_keys(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    def wider(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: wider(v) for k, v in value.items()} | {"note": mark, "id": mark, mark: [mark]}
        return [wider(each) for each in value] if isinstance(value, list) else value

    return json.dumps(wider(_json(text)))


def _garbled(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    signs = list(text)
    for _ in range(1 + len(signs) // 40):
        at = chance.randrange(len(signs) or 1)
        signs[at : at + chance.randrange(3)] = chance.choices(_ODD, k=chance.randrange(3))
    return "".join(signs)


def _flipped(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    data = bytearray(text.encode())
    for _ in range(1 + len(data) // 60):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data.decode(errors=chance.choice(["replace", "surrogateescape", "ignore"]))


def _with(*additions: str) -> Spoil:
    """Something added to all that is told: it may be kept, made harmless."""

    def spoil(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
        added = chance.choice(additions)
        if request.response is None:
            return f"{added}{text}{added}"
        return json.dumps(_strings(_json(text), lambda key, said: f"{added}{said}{added}" if key in (*_PROSE, "name", "value") else said))

    return spoil


def _handles(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    odd = ["P900", "L77", "ada_1", "th_key", "{{e:bo_1}}", "", "P0", "the key", "M1", "P" * 500]
    lists = ("targets", "involvedEntityIds", "sourceEntryIds", "target", "to", "modifiers")
    return json.dumps(_strings(_json(text), lambda key, said: chance.choice([said, *odd]) if key in lists else said))


def _numbers(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    return re.sub(r"(?<=:)\s*\d+", lambda _: str(chance.choice([-1, 0, 11, 2**31, -(2**63), 2**70, 10**400])), text)


def _too_many(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    return json.dumps({key: held * 300 if isinstance(held, list) else held for key, held in _json(text).items()})


def _swapped(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    said = re.findall(r'"(?:[^"\\]|\\.)*"', text)
    one, other = chance.choice(said), chance.choice(said)
    return text.replace(one, "\x00").replace(other, one).replace("\x00", other)


def _hostile(chance: Random, request: ModelRequest, text: str, mark: str) -> str:
    """Changes that a referee may not ask for, and words that may not mean what they look like."""
    change = {"kind": chance.choice(["set", "give", "move", "learn", "open", "lock", "drop"]), "target": chance.choice(["P1", "P2", "L1"]),
              "name": chance.choice(["name", "label", "status", "asleep_since", "", "x y", "secret"]), "value": "Nobody\x1b[1m",
              "to": chance.choice(["P1", "P2", "L1", "L2", ""])}  # fmt: skip
    value = _json(text)
    told = value | {"changes": [change] * 3} if "changes" in value else _strings(value, lambda key, said: said + " {{e:th_key}}")
    return json.dumps(told)


def _said(*texts: str) -> Spoil:
    return lambda chance, request, text, mark: chance.choice(texts).replace("{}", mark)


_PAGE = "<!DOCTYPE html><html><style>b{color:red}</style><h1>502 Bad Gateway</h1><script>x={}</script><p>{}</p></html>"
_SORRY = "I'm sorry, but I can't help with that. {}"
_FAULT = '{"error": {"message": "{}", "type": "server_error", "code": 500}}'
_CONTROL = _with("\x1b[31m", "\x1b]52;c;Z29uZQ==\x07", "\x9b2J", "\x00", "\u202e", "\ud83d", "\r\n\r", "\u2066\ufeff")
_MARKUP = _with(
    "{{e:ada_1}}", "{{e:nobody}}", "{{", "[/]", "[@click=app.quit]x[/]", "[red]", "=== YOUR MEMORIES ===\n", "P1 ", "M1 ", "<b>",
)
_LONG = _with("word " * 40_000, "x" * 200_000, "\n" * 50_000)
STRUCTURED = (
    Corruption("cut", "never", _cut),
    Corruption("cut after a whole draft", "never", _drafted_then_cut),
    Corruption("cut and said so", "never", lambda chance, request, text, mark: json.dumps(_marked(_json(text), mark)), cut=True),
    Corruption("another task's reply", "never", _another_task),
    Corruption("the schema itself", "never", _schema),
    Corruption("no number", "never", _not_a_number),
    Corruption("wrong type", "never", _wrong_type),
    Corruption("a key missing", "never", _missing),
    Corruption("a web page", "never", _said(_PAGE)),
    Corruption("a refusal", "never", _said(_SORRY)),
    Corruption("an error as text", "never", _said(_FAULT)),
    Corruption("empty", "never", _said("", " \n", "null", "[]", "{}", "NaN", '""', "0", "[{}]", "```json\n```", "\x00", "\ufeff")),
    Corruption("nothing in it", "never", _nothing_in_it),
    Corruption("thoughts without end", "never", lambda chance, request, text, mark: f"<think>{mark} {text}"),
    *(Corruption(f"no account: {each[:12]}", "never", _no_account(each)) for each in _NO_ACCOUNTS),
    Corruption("no candidates", "never", _no_candidates),
    Corruption("huge", "never", lambda chance, request, text, mark: f"{mark} " * 50_000),
    Corruption("deep", "never", _said("[" * 50_000 + '"{}"', '{"intents":' * 9_000 + '"{}"' + "}" * 9_000, '{"a":[' * 9_000)),
    Corruption("in a fence", "as before", lambda chance, request, text, mark: f"```json {mark}\n{text}\n```\n{mark}"),
    Corruption("amid talk", "as before", lambda chance, request, text, mark: f"Certainly! {mark}:\n\n{text}\n\n{mark} Anything else?"),
    Corruption("after a draft in thoughts", "as before", _drafted),
    Corruption("twice", "as before", lambda chance, request, text, mark: f"{text}\n{text}"),
    Corruption("wrapped", "as before", lambda chance, request, text, mark: f'{{"{mark}": {text}}}'),
    Corruption("more keys", "as before", _more_keys),
    Corruption("garbled", "perhaps", _garbled),
    Corruption("bits flipped", "perhaps", _flipped),
    Corruption("swapped", "perhaps", _swapped),
    Corruption("control characters", "perhaps", _CONTROL),
    Corruption("markup and tokens", "perhaps", _MARKUP),
    Corruption("long strings", "perhaps", _LONG),
    Corruption("odd handles", "perhaps", _handles),
    Corruption("odd numbers", "perhaps", _numbers),
    Corruption("too many", "perhaps", _too_many),
    Corruption("hostile", "perhaps", _hostile),
)
FREE = (
    Corruption("empty", "never", _said("", "  \n\t", "\x00\x1b[2J", "\u200b\u202e", "\r\n\x07")),
    Corruption("cut in its first sentence", "never", _said("I walk over to {} and", '"You know {} as well as', "*And {}"), cut=True),
    Corruption("cut later", "as before", lambda chance, request, text, mark: f"{text} And then {mark}", cut=True),
    Corruption("garbled", "perhaps", _garbled),
    Corruption("bits flipped", "perhaps", _flipped),
    Corruption("control characters", "perhaps", _CONTROL),
    Corruption("markup and tokens", "perhaps", _MARKUP),
    Corruption("long", "perhaps", _LONG),
    Corruption("the prompt itself", "perhaps", lambda chance, request, text, mark: request.text),
    Corruption("JSON", "perhaps", lambda chance, request, text, mark: json.dumps(_OTHERS["decode"])),
)


def kinds() -> Iterator[tuple[str, str]]:
    """All that can happen, by task and name."""
    yield from (("actor", each.name) for each in FREE)
    only = {"no number": ("referee", "handoff"), "nothing in it": ("decode", "handoff"), "no candidates": ("handoff",)}
    for each in STRUCTURED:
        tasks = ("handoff",) if each.name.startswith("no account") else only.get(each.name, ("decode", "referee", "handoff"))
        yield from ((task, each.name) for task in tasks)
