"""Sums of calls that grow in place: a record for each step would take longer than all the rest of counting a call."""

from dataclasses import astuple, dataclass

from engine.records.models import Call, Spent


@dataclass(slots=True)
class Sum:
    """What `Spent` says, of calls so far."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    estimated: int = 0
    cost: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0

    def add(self, call: Call) -> None:
        """Count a call."""
        self.calls += 1
        self.failed += bool(call.failed)
        self.prompt_tokens += call.prompt_tokens
        self.reply_tokens += call.reply_tokens
        self.estimated += call.estimated
        self.cost += call.cost or 0.0
        self.unpriced += call.cost is None
        self.seconds += call.seconds

    def take_in(self, other: "Sum") -> None:
        """Count all that another sum has."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def tokens(self) -> int:
        """Of prompts and replies together."""
        return self.prompt_tokens + self.reply_tokens

    @property
    def spent(self) -> Spent:
        """As a record, as it is now."""
        return Spent(**dict(zip(self.__slots__, astuple(self), strict=True)))
