"""Small questions asked over a screen."""
