"""The terminal interface. Imports the engine, which never imports it."""
