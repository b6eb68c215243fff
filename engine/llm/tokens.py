"""How long a text is for a model whose tokenizer is not at hand."""

import math

SCALE_STEPS = 1024
"""Parts of one in which scales are reckoned."""
_BYTES_PER_TOKEN = 4
_WITHIN_WORDS = bytes(set(range(128)) - set(b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"))
"""ASCII that parts no words."""


def estimate_tokens(text: str) -> int:
    """Tokens of a text, estimated: four bytes of UTF-8 a token, rounded up, and never fewer than its words.

    Bytes rather than characters, because scripts outside ASCII take more tokens a character.
    """
    data = text.encode("utf-8", "surrogatepass")
    tokens = -(-len(data) // _BYTES_PER_TOKEN)
    if len(data.translate(None, _WITHIN_WORDS)) < tokens:  # so few gaps cannot part more words: spares taking long texts apart
        return tokens
    return max(tokens, len(text.split()))


def scaled_tokens(text: str, scale: float) -> int:
    """Tokens of a text for a model that is seen to count `scale` for each that is estimated, rounded up.

    The scale counts in whole steps of 1/1024, rounded up, so that it can be known again from the count of a text alone.
    """
    return -(-estimate_tokens(text) * math.ceil(scale * SCALE_STEPS) // SCALE_STEPS)
