"""How much fits into a model: its window and how it counts, corrected by what a provider says of texts that were too long."""

import re
from typing import Final, Literal, NamedTuple

from engine.llm.tokens import estimate_tokens, scaled_tokens

WindowFrom = Literal["settings", "server", "package", "guess"]

_GUESS: Final = 8192
_SCALE: Final = 1.15
"""Tokens for each one estimated, so that counts are seldom too low."""
_HIGHEST_SCALE: Final = 4.0
_LEAST_WINDOW: Final = 512
_SHRINK: Final = 0.7
_TELLING: Final = 256
"""Estimated tokens from which a provider's count says something of the text rather than of the template around it."""
_NUMBER: Final = r"(\d{1,3}(?:,\d{3})+|\d+)"
_WINDOW: Final = tuple(re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE) for pattern in (
    r"maximum context length (?:is|of) #", r"available context size \(#", r"exceeds the context (?:length|window|size) \(#",
    r"tokens? > # maximum", r"maximum number of (?:input )?tokens allowed \(?#", r"context limit:? # \+ # > #", r"n_ctx\W{1,4}#",
    r"maximum model length of #", r"# maximum context length", r"context (?:window|length|size) (?:is |of )?\(?(?:limited to )?#",
    r"cannot exceed # tokens",
))  # fmt: skip
_PROMPT: Final = tuple(re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE) for pattern in (
    r"request \(# tokens\)", r"# in the messages", r"messages resulted in # tokens", r"prompt contains (?:at least )?#",
    r"input length \(#", r"prompt is too long: #", r"input token count \(#", r"context limit:? # \+", r"n_prompt_tokens\W{1,4}#",
    r"received # tokens", r"prompt \(length #",
))  # fmt: skip


class Said(NamedTuple):
    """What a complaint about length says in numbers of tokens."""

    prompt: int | None
    window: int | None


def numbers_in(complaint: str) -> Said:
    """The numbers in a provider's complaint that a text is too long, in the words of OpenAI, vLLM, llama.cpp, Ollama, Anthropic, Gemini,
    Mistral, Cohere and whoever speaks alike."""
    return Said(_first(_PROMPT, complaint), _first(_WINDOW, complaint))


class Measures:
    """A window and a way of counting. The window only shrinks after it was settled, and counts only grow."""

    def __init__(self, window: int | None) -> None:
        """`window` is the one that was set, if any."""
        self.window = window or _GUESS
        self.source: WindowFrom = "settings" if window else "guess"
        self.scale = _SCALE

    def count(self, text: str) -> int:
        """Tokens of a text, estimated on the high side."""
        return scaled_tokens(text, self.scale)

    def settle(self, window: int, source: WindowFrom) -> None:
        """The window that was found out, unless one was set."""
        if self.source == "guess":
            self.window, self.source = window, source

    def counted(self, text: str, tokens: int) -> None:
        """A provider counted `tokens` for a text."""
        estimate = estimate_tokens(text)
        if estimate >= _TELLING:
            self.scale = max(self.scale, min(_HIGHEST_SCALE, tokens / estimate))

    def too_long(self, text: str, complaint: str, *, outdated: bool = False) -> None:
        """A provider complained of the length of a text: the next one drafted by window and count will be shorter.

        `outdated` is a text that was drafted before what is known now, for a call that waited meanwhile: of it there is no more to learn
        than the complaint says.
        """
        said, before = numbers_in(complaint), (self.window, self.count(text))
        if said.window is not None and _LEAST_WINDOW <= said.window < self.window:
            self.window, self.source = said.window, "server"
        if said.prompt is not None:
            self.counted(text, said.prompt)
        if (self.window, self.count(text)) == before and not outdated:
            self.window = max(_LEAST_WINDOW, int(self.window * _SHRINK))


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    found = next((match for pattern in patterns if (match := pattern.search(text))), None)
    return int(found.groups()[-1].replace(",", "")) if found else None
