"""What a person sets for all worlds: `settings.toml` in the config folder, with the environment over it (DESIGN 12)."""

from engine.settings.hints import suggested, with_hints
from engine.settings.oddities import oddities
from engine.settings.reading import load_or_stand_in, load_settings, settings_path
from engine.settings.records import (
    BUILT_IN,
    STORYTELLER,
    CapSettings,
    EmbedSettings,
    EndpointSettings,
    ModelSettings,
    ProviderSettings,
    Settings,
    TaskSettings,
)
from engine.settings.repair import Broken, FaultAt, broken, put_aside
from engine.settings.sources import choosers, sources
from engine.settings.writing import begin, change, change_all

__all__ = [
    "BUILT_IN", "STORYTELLER", "Broken", "CapSettings", "EmbedSettings", "EndpointSettings", "FaultAt", "ModelSettings",
    "ProviderSettings", "Settings", "TaskSettings", "begin", "broken", "change", "change_all", "choosers", "load_or_stand_in",
    "load_settings", "oddities", "put_aside", "settings_path", "sources", "suggested", "with_hints",
]
