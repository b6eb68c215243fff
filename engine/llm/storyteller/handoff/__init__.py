"""Task `handoff`: what one character will remember of its last hours, how it is told, and what it cannot let go of yet."""
