"""Listening to a reply that may begin anew."""

from engine.llm.protocol import Heard


class Hearing:
    """Passes on what is heard of a reply, and knows whether it has to be taken back before another begins."""

    def __init__(self, heard: Heard | None) -> None:
        self._heard = heard
        self.anything = False
        """Whether pieces came that are not void."""

    @property
    def ear(self) -> Heard | None:
        """What to give to the model within; None when nobody listens."""
        return self._hear if self._heard is not None else None

    def begin_anew(self) -> None:
        """What was heard is void, if anything was: another reply follows."""
        if self.anything:
            self._hear(None)

    def _hear(self, piece: str | None) -> None:
        self.anything = piece is not None
        if self._heard is not None:
            self._heard(piece)
