"""What a person sets for all worlds: `settings.toml` in the config folder, with the environment over it (DESIGN 12)."""

from engine.settings.reading import load_settings, settings_path
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

__all__ = [
    "BUILT_IN", "STORYTELLER", "CapSettings", "EmbedSettings", "EndpointSettings", "ModelSettings", "ProviderSettings", "Settings",
    "TaskSettings", "load_settings", "settings_path",
]
