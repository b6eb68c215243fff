"""Frozen values that every other part of the engine speaks in."""
