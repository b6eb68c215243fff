"""How one game is to be opened apart from what settings and world say: for one run only."""

from dataclasses import dataclass

from engine.llm.cassette import Tape
from engine.llm.observed import CallSink
from engine.settings import CapSettings, Settings, TaskSettings


@dataclass(frozen=True, slots=True)
class Setup:
    """What holds for this run alone."""

    sink: CallSink | None = None
    """Shown every reply of a model."""
    tape: Tape | None = None
    """A recorder, on which all calls are put down, or a playback, from which all replies come and no model is asked."""
    caps: CapSettings = CapSettings()  # noqa: RUF009 - a frozen value
    """Caps over those of the settings, as far as they are set."""
    model: TaskSettings | None = None
    """Who answers all tasks, over the settings."""
    resting: bool = False
    """Whether only what is asked for is done: no collapse, promotion or embedding is begun because a save is opened."""
    backups: bool = False
    """Whether the save is copied now and then while it is played."""
    stand_in: bool = False
    """Whether what is built in stands in while the settings cannot be used: the storyteller, and the embedder that needs nothing. Else
    nothing is opened then."""
    asks: bool = False
    """Whether each model call is held for a person's word from the first on."""

    def over(self, settings: Settings) -> Settings:
        """Settings with what holds for this run over them."""
        caps = settings.caps.model_copy(update=self.caps.model_dump(exclude_none=True))
        models = settings.models
        if self.model is not None:
            others = {name: None for name in type(models).model_fields if name not in ("default", "hints", "embed")}
            models = models.model_copy(update={**others, "default": self.model})
        return settings.model_copy(update={"caps": caps, "models": models})
