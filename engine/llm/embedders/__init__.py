"""What turns texts into vectors: on this machine, or behind a provider. `open_embedder` gives the one that is set."""

from engine.llm.embedders.opening import open_embedder, open_embedder_or_stand_in

__all__ = ["open_embedder", "open_embedder_or_stand_in"]
