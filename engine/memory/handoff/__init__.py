"""Handoff: promotion of old buffer entries to the ledger, forgetting the rest (DESIGN 7)."""
