"""Task `handoff`: which moments are kept, joined, told and pinned, and which are left to be forgotten."""
