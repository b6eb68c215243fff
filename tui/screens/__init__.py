"""The screens and what they are laid out by."""
