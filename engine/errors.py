"""Errors for people: what went wrong, where, what to do next."""

from pathlib import Path
from typing import Literal, TypeAlias

Trouble: TypeAlias = Literal[
    "no_key", "unreachable", "timed_out", "rate_limited", "unknown_model", "too_long", "refused", "overloaded", "broken_off", "bad_request",
    "bad_output",
]
"""In what way a provider failed. After `unreachable`, `timed_out`, `rate_limited`, `overloaded` and `broken_off` (a reply that ended in
the middle) another try, or another model, may succeed; `too_long` wants a shorter text; the rest wants a person."""


class OthermindsError(Exception):
    """Base of all expected trouble. `str()` suits a reader; `advice` says what to do next."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.advice}" if self.advice else message


class WorldFileError(OthermindsError):
    """A world's files cannot be read. `problems` lists every fault found."""

    def __init__(self, message: str, problems: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class SettingsError(OthermindsError):
    """`settings.toml` or a setting in the environment cannot be used. The text names the file, the key and the fault.

    `faults` lists all that was found, each by itself, where the settings could be read at all; `lines` has the line of each in the file
    `path`, 0 for what is in none.
    """

    def __init__(
        self, message: str, advice: str = "", faults: tuple[str, ...] = (), *, path: Path | None = None, lines: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message, advice)
        self.faults, self.path, self.lines = faults, path, lines


class SaveError(OthermindsError):
    """A save cannot be opened, read or written."""


class SaveLockedError(SaveError):
    """Another process has the save open."""


class ModelError(OthermindsError):
    """A model call failed or its reply could not be used. Nothing was written."""


class BadOutputError(ModelError):
    """A reply did not fit what was asked. `reply` keeps the raw text."""

    def __init__(self, message: str, reply: str = "", advice: str = "") -> None:
        super().__init__(message, advice)
        self.reply = reply


class ProviderError(ModelError):
    """A model behind a provider failed. `trouble` says in what way, `retry_after` how many seconds the provider asks to wait."""

    def __init__(self, message: str, advice: str = "", *, trouble: Trouble, retry_after: float | None = None) -> None:
        super().__init__(message, advice)
        self.trouble = trouble
        self.retry_after = retry_after
        self.counted: tuple[int, int] | None = None
        """Tokens of prompt and reply that the provider counted all the same."""


class CapReachedError(OthermindsError):
    """The next model call would pass a cap. It was not made and nothing was written; raised, the cap lets play go on. `cap` names it."""

    def __init__(self, message: str, advice: str = "", *, cap: str = "") -> None:
        super().__init__(message, advice)
        self.cap = cap


class CallDeclinedError(CapReachedError):
    """A person, asked before a model call, did not let it go out. As with a cap it was not made, nothing was written, and play can go
    on: whoever minds a cap minds this too."""


class HandoffError(OthermindsError):
    """A handoff proposal failed its checks or could not be committed. Nothing was written."""


class ChangedError(OthermindsError):
    """Something was changed since it was read, so what was to be made of it is not written."""


class CommandError(OthermindsError):
    """A person asked for something that cannot be done, or not understood."""


SessionFault: TypeAlias = Literal[
    "unknown_session", "unknown_turn", "unknown_entity", "closed_session", "already_open", "bad_role", "bad_text", "bad_key",
]
"""What was wrong with what somebody asked of a session: something that is not there, a state that does not allow it, or a bad value."""


class SessionError(CommandError):
    """Something asked of a session cannot be done, and nothing was changed. `kind` says why, in a word that programs can go by."""

    def __init__(self, message: str, advice: str = "", *, kind: SessionFault) -> None:
        super().__init__(message, advice)
        self.kind = kind


KnowledgeFault: TypeAlias = Literal[
    "unknown_knowledge", "unknown_item", "unknown_entity", "unknown_faction", "bad_value", "known_already", "nothing_to_do", "unclear",
]
"""What was wrong with what somebody asked of knowledge: something that is not there, a bad value, or nothing that could be done."""


class KnowledgeError(CommandError):
    """Something asked of knowledge cannot be done, and nothing was changed. `kind` says why, in a word that programs can go by."""

    def __init__(self, message: str, advice: str = "", *, kind: KnowledgeFault) -> None:
        super().__init__(message, advice)
        self.kind = kind


class RuleError(OthermindsError):
    """A change to the world is impossible. The world is as before; the text names nobody, so anyone may read it."""
