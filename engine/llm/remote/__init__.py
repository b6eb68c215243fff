"""Models behind litellm: the library kept in a thread of its own, and its errors in words for people."""
