"""All of it, side by side: nothing waits for anything else, and everything ends in time."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from engine.doctor.embedder import embedder
from engine.doctor.findings import Area, Finding, worst
from engine.doctor.machine import database, program
from engine.doctor.models import models
from engine.doctor.servers import servers
from engine.doctor.settings import settings
from engine.doctor.terminal import Terminal, terminal
from engine.folders import data_folder
from engine.llm.local_servers import find_servers

_LIMIT: Final = 20.0
"""Seconds that a model is given to answer, and an embedder."""


_STANDS_IN: Final = Finding(
    area="models", name="storyteller", state="warn",
    text="speaks for everybody while the settings cannot be used: no other model was looked at",
    advice="Put the settings right, and look again.",
)
_FINDS_INSTEAD: Final = Finding(area="embedder", name="hash768", state="warn", text="finds memories while the settings cannot be used")


async def examine(seen: Terminal, *, offline: bool = False, tell: Callable[[frozenset[Area]], None] = lambda areas: None) -> list[Finding]:
    """What there is to say of the program and all it stands on, by area and in the order in which people read it.

    `offline` asks no provider and no model. `tell` hears what is still under way, whenever that changes. Raises nothing for what is
    amiss: that is what it is for.
    """
    said, loaded = settings()
    broken = worst(said) == "bad"
    looking = asyncio.create_task(find_servers())

    async def found_servers() -> list[Finding]:
        return await servers(await looking, loaded)

    async def found_models() -> list[Finding]:
        if broken:
            return [_STANDS_IN]
        return await models(loaded, looking, offline=offline, limit=_LIMIT)

    async def found_embedder() -> list[Finding]:
        if broken:
            return [_FINDS_INSTEAD]
        return [await embedder(loaded.models.embed, offline=offline, limit=_LIMIT)]

    work: Mapping[Area, asyncio.Task[list[Finding]]] = {
        "models": asyncio.create_task(found_models()),
        "servers": asyncio.create_task(found_servers()), "embedder": asyncio.create_task(found_embedder()),
        "terminal": asyncio.create_task(terminal(seen)),
    }
    under_way = set(work.values())
    try:
        while under_way:
            tell(frozenset(area for area, task in work.items() if task in under_way))
            _, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (looking, *under_way):
            task.cancel()
    found = {area: task.result() for area, task in work.items()}
    return [
        *program(), *said, *found["models"], *found["servers"], *found["embedder"], *database(data_folder() / "saves"), *found["terminal"],
    ]
