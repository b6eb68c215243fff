"""Recall: choosing ledger entries for a prompt (DESIGN 8)."""
