"""Saves: one SQLite file for one running world, written by one connection in whole transactions."""
