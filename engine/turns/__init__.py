"""Rounds and beats: who acts, what it means, whether it can be done."""
