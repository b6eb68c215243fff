"""One entity's point of view, pure: names for others, perception, time words, and events told to one viewer."""
