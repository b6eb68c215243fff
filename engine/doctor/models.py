"""Whether the models in use can be: each endpoint that a task's route names, by its key, its address and one small live call."""

import asyncio
import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import Final

from engine.doctor.findings import Finding, State
from engine.doctor.knocking import takes_connections
from engine.doctor.servers import title
from engine.errors import Trouble
from engine.folders import data_folder
from engine.llm.caps import Caps
from engine.llm.meter import Meter
from engine.llm.offers import offered_instead
from engine.llm.opening import TASKS, Models, open_models
from engine.llm.remote.bridge import shared_bridge
from engine.llm.trying import patience, try_model
from engine.llm.usage_log import UsageLog
from engine.records.models import EndpointView, LocalServer, TestReport
from engine.records.prompts import Task
from engine.settings import STORYTELLER, Settings

_PASSING: Final[frozenset[Trouble]] = frozenset({"rate_limited", "overloaded", "broken_off"})
"""Troubles that go by on their own."""
_KEYS: Final[Mapping[str, str]] = {
    "OPENAI_API_KEY": "OpenAI", "ANTHROPIC_API_KEY": "Anthropic", "GEMINI_API_KEY": "Gemini", "MISTRAL_API_KEY": "Mistral",
    "GROQ_API_KEY": "Groq", "DEEPSEEK_API_KEY": "DeepSeek", "XAI_API_KEY": "xAI", "OPENROUTER_API_KEY": "OpenRouter",
}


async def models(settings: Settings, servers: Awaitable[Sequence[LocalServer]], *, offline: bool, limit: float) -> list[Finding]:
    """One finding for each endpoint in use, in the order of tasks; what else could be used when one of them cannot be.

    Each is given `limit` seconds to answer, one on this machine up to a minute. Calls are counted for the day, as those of play are, and
    held against its caps.
    """
    meter, log = Meter(), UsageLog(data_folder())
    opened = open_models(settings, meter, Caps(settings.caps, meter, log), lambda note: None, usage_log=log)
    tasks: dict[str, list[Task]] = {}
    views: dict[str, EndpointView] = {}
    for route in opened.views():
        for place, view in enumerate(route.endpoints):
            views[view.name] = view
            tasks.setdefault(view.name, []).extend([route.task] if place == 0 else [])
    looked_at = (_endpoint(opened, settings, views[name], firsts, offline, limit) for name, firsts in tasks.items())
    found = list(await asyncio.gather(*looked_at))
    if all(name == STORYTELLER for name in tasks) or any(finding.state != "ok" for finding in found):
        others = _others(settings, await servers, set(tasks))
        found.append(Finding(area="models", name="others", state="ok", text=others, advice="" if offline else _HOW))
    return found


_HOW: Final = "To choose another: otherminds config set models.default NAME, for instance openai/gpt-5-mini or ollama_chat/llama3.2."


async def _endpoint(
    opened: Models, settings: Settings, view: EndpointView, tasks: Sequence[Task], offline: bool, limit: float
) -> Finding:
    """What is found of one endpoint; `tasks` are those that it is asked for first."""
    called = view.name if view.name == view.model else f"{view.name} ({view.model})"
    does = _does(tasks)
    failing: State = "bad" if tasks else "warn"
    if view.model == STORYTELLER:
        return _finding(called, "ok", f"{does}; built in, needs nothing")
    if view.key == "missing":
        keys = " or ".join(view.key_names)
        advice = f"Set {keys} in the shell that Otherminds is started from (export {view.key_names[0]}=…), or choose another model."
        return _finding(called, failing, f"{does}; there is no key: {keys} is not set", advice)
    if offline:
        key = {"set": "its key is set", "none needed": "it needs no key"}.get(view.key, "whether it has its key is unknown")
        return _finding(called, "ok", f"{does}; {key}; not asked")
    if not await takes_connections(view.api_base):
        advice = "Start the server if it is yours, see whether the address is right, or choose another model."
        return _finding(called, failing, f"{does}; the server {view.api_base} cannot be reached", advice)
    name, resolved = view.name, settings.resolved(view.name)
    report = await try_model(
        opened.endpoint(name), name, opened.remote(name), offered=lambda: offered_instead(resolved, shared_bridge()),
        limit=patience(view, limit),
    )
    return _reported(called, does, report, failing)


def _does(tasks: Sequence[Task]) -> str:
    others = [task for task in TASKS if task not in tasks]
    if not tasks:
        return "stands in for others"
    if len(others) < len(tasks):
        return f"for all tasks but {', '.join(others)}" if others else "for all tasks"
    return f"for {', '.join(tasks)}"


def _reported(called: str, does: str, report: TestReport, failing: State) -> Finding:
    if not report.ok:
        state: State = "warn" if report.trouble in _PASSING or report.trouble is None else failing
        return _finding(called, state, f"{does}; {_lowered(report.text)}")
    window = f"; window {report.context_window:,} tokens" if report.context_window else ""
    cost = "the test's price is unknown" if report.cost is None else f"the test cost ${report.cost:.4f}" if report.cost else "free"
    return _finding(called, "ok" if report.structured else "warn", f"{does}; {_lowered(report.text).rstrip('.')}{window}; {cost}")


def _others(settings: Settings, servers: Sequence[LocalServer], in_use: set[str]) -> str:
    found = [title(server) for server in servers if server.models]
    found += [f"models of {name} ({key} is set)" for key, name in _KEYS.items() if os.environ.get(key, "").strip()]
    found += [f"the endpoint {name}" for name in settings.endpoint if name not in in_use]
    if STORYTELLER not in in_use:
        found.append("the storyteller, which is built in")
    return f"what else could be used: {'; '.join(found)}" if found else "there is no server on this machine and no key in the environment"


def _lowered(text: str) -> str:
    """A sentence as part of another."""
    return text[:1].lower() + text[1:] if text.startswith(("It ", "The ", "There ")) else text


def _finding(name: str, state: State, text: str, advice: str = "") -> Finding:
    return Finding(area="models", name=name, state=state, text=text, advice=advice)
