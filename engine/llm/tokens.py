"""How long a text is for a model whose tokenizer is not at hand."""

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
