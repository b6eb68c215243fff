"""The built-in storyteller: a deterministic model that needs no key and no weights."""

from engine.llm.storyteller.model import Storyteller

__all__ = ["Storyteller"]
