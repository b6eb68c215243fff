"""The Otherminds engine: worlds, minds and memory, without any screen."""
