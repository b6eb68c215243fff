"""Old, unimportant memories of one mind told as one, when its ledger has grown past the size set in policy."""
