"""Who answers which task, and which models there are: as rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from engine.settings import STORYTELLER
from tui import figures
from tui.figures import duration
from tui.glyphs import CANDIDATE, REFUSED
from tui.models_view import DEFAULT, EMBED, ModelsView, Slot
from tui.panes.rows import Row
from tui.text import plain

if TYPE_CHECKING:
    from engine.records.models import EndpointView, LocalServer

TASK, ENDPOINT, FOUND = "task ", "endpoint ", "found "
"""What keys of rows begin with."""
DOES = {
    DEFAULT: "answers every task that has no model of its own",
    "actor": "writes what characters say, do and think",
    "decode": "reads out of that what is said, done and thought",
    "referee": "judges whether a deed succeeds",
    "alias": "finds words for somebody whose name is not known",
    "handoff": "chooses what a full mind keeps, and tells it",
    "collapse": "draws facts and decisions from a conversation that has ended",
    "validate": "compares what was learned with what was known",
    "narrate": "tells what the narrator tells",
    EMBED: "finds memories by their meaning",
}
"""What tasks are for."""
SET_BY = {"environment": "environment", "settings": "settings", "world": "the world", "default": "settings", "built in": "built in"}
"""Who chose a model."""
WINDOWS = {"settings": "as set", "server": "from the server", "package": "from the price list", "guess": "a guess", "built in": "built in"}
"""Where a window is known from."""
KINDS = {
    "ollama": "Ollama", "llama.cpp": "llama.cpp", "lm_studio": "LM Studio", "vllm": "vLLM", "openai-compatible": "A model server",
    "busy": "Something that is busy",
}
LABEL = 11
"""Cells of the first column."""


def slot_name(slot: Slot) -> str:
    """What a task is called, and what answers all the others."""
    return "everything" if slot == DEFAULT else slot


def model_name(endpoint: "EndpointView") -> str:
    """A model by the name of its endpoint, and by litellm's where that differs."""
    name, model = plain(endpoint.name), plain(endpoint.model)
    return name if name == model else f"{name} ({model})"


def price(endpoint: "EndpointView") -> str:
    """What a model asks for, by the million tokens."""
    if endpoint.model == STORYTELLER:
        return "free"
    if endpoint.input_price is None or endpoint.output_price is None:
        return "price unknown"
    if not endpoint.input_price and not endpoint.output_price:
        return "free"
    return f"{figures.price(endpoint.input_price)} in, {figures.price(endpoint.output_price)} out per million"


def key_words(endpoint: "EndpointView") -> tuple[str, str]:
    """What is known of a model's key, and how that is coloured."""
    match endpoint.key:
        case "missing":
            names = " or ".join(plain(name) for name in endpoint.key_names)
            return f"{REFUSED} key missing{f': set {names}' if names else ''}", ".bad"
        case "set":
            return "key set", ".quiet"
        case "none needed":
            return "no key needed", ".quiet"
    return "key unknown", ".quiet"


def facts(endpoint: "EndpointView") -> list[Content]:
    """A model in a few short lines: window and where it is known from, price, temperature, key, and what is the matter with it."""
    if endpoint.model == STORYTELLER:
        return [Content.styled("built in: no key, no network, no cost", ".quiet")]
    key, style = key_words(endpoint)
    first = f"{endpoint.context_window:,} tokens, {WINDOWS[endpoint.window_from]}"
    second = [price(endpoint)] + ([f"temperature {endpoint.temperature:g}"] if endpoint.temperature is not None else [])
    lines = [Content.styled(first, ".quiet"), Content.styled(" · ".join(second if style == ".bad" else [*second, key]), ".quiet")]
    return lines + ([Content.styled(key, style)] if style == ".bad" else [])


# who answers


def task_rows(view: ModelsView) -> list[Row]:
    """A row for each task that is called, after what answers all others; the embedder last."""
    return [*(_task_row(view, slot) for slot in (DEFAULT, *(route.task for route in view.routes))), _embed_row(view)]


def set_by(view: ModelsView, slot: Slot) -> str:
    """Who chose the model of a task."""
    if view.variable(slot):
        return "environment"
    if view.follows(slot):
        return "as default"
    if slot == DEFAULT and (follower := next((route for route in view.routes if view.follows(route.task)), None)) is not None:
        return SET_BY[follower.set_by]
    if slot in (DEFAULT, EMBED):
        return "settings" if slot in view.settings.models.model_fields_set else "built in"
    route = view.route(slot)
    return SET_BY[route.set_by] if route else ""


def _task_row(view: ModelsView, slot: Slot) -> Row:
    chain = view.chain(slot)
    follows = view.follows(slot)
    name = (plain(chain[0].name) if follows else model_name(chain[0])) if chain else "nobody"
    lines = [Content.styled(name, ".deed" if follows else ".name")]
    if not follows and chain:
        if chain[1:]:
            lines.append(Content.styled(f"then {', '.join(plain(one.name) for one in chain[1:])}", ".deed"))
        lines += facts(chain[0])
    lines += [Content.styled(f"{plain(one.name)} {plain(one.note)}", ".candidate") for one in chain if one.note and not follows]
    if (hint := view.suggested.get(slot)) is not None:
        lines.append(Content.styled(f"{CANDIDATE} w: {plain(hint)}, as the world suggests", ".candidate"))
    return _row(slot, lines, set_by(view, slot), TASK + slot)


def _embed_row(view: ModelsView) -> Row:
    embed = view.settings.models.embed
    lines = [Content.styled(plain(embed.model), ".name")]
    if embed.model == "hash768":
        lines.append(Content.styled("minilm finds memories better", ".quiet"))
    return _row(EMBED, lines, set_by(view, EMBED), TASK + EMBED)


def _row(slot: Slot, lines: Sequence[Content], tail: str, key: str) -> Row:
    lead = Content.styled(f" {slot_name(slot):<{LABEL}} ", ".head" if slot == DEFAULT else ".deed")
    return Row(Content("\n").join(lines), lead=lead, tail=Content.styled(tail, ".quiet"), key=key)


# which models there are


def model_rows(view: ModelsView) -> list[Row]:
    """Models that are set up, and those of servers found on this machine."""
    rows = [_head("Set up")]
    rows += [_endpoint_row(view, one) for one in view.endpoints]
    rows += [Row(Content("")), _head("On this machine")]
    if view.trouble:
        return [*rows, Row(Content.styled(f"{REFUSED} {plain(view.trouble)} r looks again.", ".bad"), lead=Content(" "))]
    if view.servers is None:
        return [*rows, Row(Content.styled("looking…", ".quiet"), lead=Content(" "))]
    if not view.servers:
        text = "No model server answers. Ollama, llama.cpp, LM Studio and vLLM are found where they usually listen; r looks again."
        return [*rows, Row(Content.styled(text, ".quiet"), lead=Content(" "))]
    for server in view.servers:
        rows += _server_rows(view, server)
    return rows


def _head(text: str) -> Row:
    return Row(Content.styled(text, ".head"), lead=Content(" "))


def _endpoint_row(view: ModelsView, endpoint: "EndpointView") -> Row:
    users = view.users(endpoint.name)
    lines = [Content.styled(model_name(endpoint), ".name"), *facts(endpoint)[-2 if endpoint.key == "missing" else -1:]]
    lines += [Content.styled(plain(endpoint.note), ".candidate")] if endpoint.note else []
    lines += [line for line in [_tested(view, endpoint.name)] if line]
    tail = ", ".join(slot_name(slot) for slot in users[:1]) + (f" +{len(users) - 1}" if users[1:] else "")
    return Row(Content("\n").join(lines), lead=Content("   "), tail=Content.styled(tail, ".quiet"), key=ENDPOINT + endpoint.name)


def _server_rows(view: ModelsView, server: "LocalServer") -> list[Row]:
    title = Content.assemble((KINDS[server.kind], ".deed"), (f"  {plain(server.api_base)}", ".quiet"))
    rows = [Row(title, lead=Content("   "))]
    if server.note:
        rows.append(Row(Content.styled(plain(server.note), ".candidate"), lead=Content("   ")))
    for model in server.models:
        known = view.known(server, model)
        tail = Content.styled("set up" if known else "t tries, u uses it", ".quiet" if known else ".key")
        lines = [Content.styled(plain(model), ".name"), *(line for line in [_tested(view, model)] if line)]
        rows.append(Row(Content("\n").join(lines), lead=Content("     "), tail=tail, key=found_key(server, model)))
    if not server.models and not server.note:
        rows.append(Row(Content.styled("It offers no model yet.", ".quiet"), lead=Content("     ")))
    return rows


def found_key(server: "LocalServer", model: str) -> str:
    """The key of a row for a server's model."""
    return f"{FOUND}{server.api_base} {model}"


def found(view: ModelsView, key: str) -> "tuple[LocalServer, str] | None":
    """The server and the model of a row."""
    pairs = ((server, model) for server in view.servers or () for model in server.models)
    return next((pair for pair in pairs if found_key(*pair) == key), None)


def _tested(view: ModelsView, name: str) -> Content | None:
    report = view.reports.get(name)
    if report is None:
        return None
    took = f"answered in {duration(report.seconds)}" if report.ok else "did not pass its test"
    return Content.styled(f"{'✓' if report.ok else REFUSED} {took}", ".good" if report.ok else ".bad")
