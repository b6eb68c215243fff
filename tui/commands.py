"""The command palette: every action of the screen one is on, by name."""

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.types import IgnoreReturnCallbackType

from tui.keybar import key_name
from tui.pace import SPEEDS
from tui.panes.pane import Pane
from tui.panes.rows import RowList


class Commands(Provider):
    """Actions from the bindings in force, those of panes one is not in, panes by name, the pace of the display."""

    def _all(self) -> Iterator[tuple[str, str, IgnoreReturnCallbackType]]:
        """Name, help and what to run."""
        seen: set[str] = set()
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if not active.enabled or binding.action in seen or binding.system or not (binding.tooltip or binding.show):
                continue
            seen.add(binding.action)
            tooltip = f"{binding.tooltip or binding.description} ({key_name(binding.key)})"
            yield binding.description, tooltip, partial(self.app.run_action, binding.action, default_namespace=active.node)
        for pane in self.screen.query(Pane):
            for _, binding in pane._bindings:
                if binding.tooltip and binding.id and not pane.has_focus_within:
                    text = f"{binding.tooltip} ({key_name(binding.key)} in {pane.TITLE})"
                    yield f"{pane.TITLE}: {binding.description}", text, partial(self._in_pane, pane, binding.action)
        host = getattr(self.app, "host", None)
        if host is not None:
            for name, seconds in SPEEDS.items():
                now = " (now)" if host.pacer.speed == seconds else ""
                yield f"Pace: {name}", f"How fast what happens is shown{now}", partial(setattr, host.pacer, "speed", seconds)

    async def _in_pane(self, pane: Pane, action: str) -> None:
        """Go to a pane and do something there, to the row under its cursor."""
        await self.app.run_action(f"pane('{pane.id}')", default_namespace=self.screen)
        for rows in pane.query(RowList):
            rows.begin()
        await self.app.run_action(action, default_namespace=pane)

    async def discover(self) -> Hits:
        """All of them before anything is typed."""
        for name, text, run in self._all():
            yield DiscoveryHit(name, run, help=text)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for name, text, run in self._all():
            if (score := max(matcher.match(name), 0.9 * matcher.match(text))) > 0:
                yield Hit(score, matcher.highlight(name), run, help=text)
