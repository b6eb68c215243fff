"""Task `actor`: what a character does next, from what its prompt says."""
