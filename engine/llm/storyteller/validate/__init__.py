"""Task `validate`: whether a statement can stand beside what else is known."""
