"""Task `alias`: what somebody could be called by its looks."""
