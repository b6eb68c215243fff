"""What minds keep: handoff from working memory to the ledger, and recall from it."""
