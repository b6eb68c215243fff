"""What is set, and whether it can be read. Faults are findings: the rest is looked at as if nothing were set."""

from engine.doctor.findings import Finding
from engine.errors import SettingsError
from engine.settings import Settings, load_settings, oddities, settings_path


def settings() -> tuple[list[Finding], Settings]:
    """The settings in force and what is to be said of them."""
    path = settings_path()
    try:
        loaded = load_settings()
    except SettingsError as error:
        return list(_faults(error)), Settings()
    there = path.is_file()
    names = [f"models.{key}" for key in loaded.models.model_fields_set] + ["caps"] * bool(loaded.caps.model_fields_set)
    said = ", ".join(sorted(name.rstrip("_") for name in names)) or "nothing: all is as it comes"
    count = len(loaded.endpoint)
    endpoints = f"; {count} {'endpoint' if count == 1 else 'endpoints'}" if count else ""
    odd = (one for one in oddities(loaded) if " has no key: " not in one)  # keys are looked at with the models
    return [
        Finding(area="settings", name="file", state="ok", text=str(path) if there else f"{path} is not there and need not be"),
        Finding(area="settings", name="set", state="ok", text=said + endpoints),
        *(Finding(area="settings", name="odd", state="warn", text=one) for one in odd),
    ], loaded


def _faults(error: SettingsError) -> list[Finding]:
    if not error.faults:
        return [Finding(area="settings", name="file", state="bad", text=str(error.args[0]), advice=error.advice)]
    where = f"The file is {settings_path()}; Models (M in `otherminds`) shows the lines." if any(error.lines) else ""
    return [
        Finding(
            area="settings", name=f"fault {number}" if len(error.faults) > 1 else "fault", state="bad", text=fault,
            advice=" ".join(filter(None, (error.advice, where))) if number == len(error.faults) else "",
        )
        for number, fault in enumerate(error.faults, start=1)
    ]
