"""Colours: two themes of our own, and the names under which every theme's colours are used."""

from textual.theme import Theme

LANTERN = Theme(
    name="lantern",
    primary="#e2a857",
    secondary="#7ba7c4",
    accent="#e2a857",
    warning="#dd9a5b",
    error="#d8736a",
    success="#94b97f",
    foreground="#d9d5ca",
    background="#13161b",
    surface="#171b21",
    panel="#262c35",
    dark=True,
    variables={
        "speech": "#f0e3c8",
        "thought": "#9fb3cf",
        "deed": "#c9c5bb",
        "quiet": "#858b95",
        "edge": "#39414d",
        "lit": "#2b2a24",
        "fresh": "#24362a",
        "candidate": "#dda25a",
        "block-cursor-background": "#e2a857",
        "block-cursor-foreground": "#13161b",
        "footer-background": "#171b21",
        "input-selection-background": "#e2a857 30%",
        "scrollbar": "#2c333d",
        "scrollbar-hover": "#414b58",
        "scrollbar-background": "#13161b",
        "scrollbar-background-hover": "#13161b",
        "scrollbar-background-active": "#13161b",
        "scrollbar-corner-color": "#13161b",
    },
)
"""Lamp light on slate."""

PAPER = Theme(
    name="paper",
    primary="#8a4b16",
    secondary="#2d5f80",
    accent="#8a4b16",
    warning="#8f5200",
    error="#a32a22",
    success="#3d6b2f",
    foreground="#2c2a26",
    background="#f6f1e6",
    surface="#efe8d9",
    panel="#e2d9c6",
    dark=False,
    variables={
        "speech": "#1d1a15",
        "thought": "#3d5673",
        "deed": "#3a3732",
        "quiet": "#716a5e",
        "edge": "#c4b9a3",
        "lit": "#ece0c4",
        "fresh": "#d9e6cd",
        "candidate": "#8f5200",
        "footer-background": "#efe8d9",
        "scrollbar": "#d5cab4",
        "scrollbar-hover": "#bfb197",
        "scrollbar-background": "#f6f1e6",
        "scrollbar-background-hover": "#f6f1e6",
        "scrollbar-background-active": "#f6f1e6",
        "scrollbar-corner-color": "#f6f1e6",
    },
)
"""Ink on paper."""

THEMES = (LANTERN, PAPER)
DEFAULTS = {
    "speech": "$foreground",
    "thought": "$secondary",
    "deed": "$foreground 90%",
    "quiet": "$foreground 60%",
    "edge": "$panel",
    "lit": "$primary 15%",
    "fresh": "$success 20%",
    "candidate": "$warning",
}
"""Used by themes that are not ours."""


def variables(colours: dict[str, str]) -> dict[str, str]:
    """Our own colour names for a theme whose colours are given; names that refer to others are looked up."""
    found = {}
    for name, value in DEFAULTS.items():
        colour, _, alpha = value.removeprefix("$").partition(" ")
        found[name] = f"{colours.get(colour, '#888888')} {alpha}".strip()
    return found
