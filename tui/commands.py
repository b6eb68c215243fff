"""The command palette: every action of the screen one is on, by name."""

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.types import IgnoreReturnCallbackType

from tui.keybar import key_name
from tui.pace import SPEEDS


class Commands(Provider):
    """Actions from the bindings in force, panes by name, the pace of the display."""

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
        host = getattr(self.app, "host", None)
        if host is not None:
            for name, seconds in SPEEDS.items():
                now = " (now)" if host.pacer.speed == seconds else ""
                yield f"Pace: {name}", f"How fast what happens is shown{now}", partial(setattr, host.pacer, "speed", seconds)

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
