"""How long a text is for a model whose tokenizer is not at hand."""

_BYTES_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Tokens of a text, estimated: four bytes of UTF-8 a token, rounded up, and never fewer than its words.

    Bytes rather than characters, because scripts outside ASCII take more tokens a character.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    return max(-(-size // _BYTES_PER_TOKEN), len(text.split()))
