"""What turns texts into vectors: on this machine, or behind a provider. `open_embedder` gives the one that is set."""

from engine.llm.embedders.opening import open_embedder

__all__ = ["open_embedder"]
