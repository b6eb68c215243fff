"""Sessions: how they fill by play, when they end, and how they become knowledge (DESIGN 9)."""
