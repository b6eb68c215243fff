"""What is well and what is not: the program, its settings, its models, and the machine it stands on."""

from engine.doctor.examining import examine
from engine.doctor.findings import Area, Finding, State, worst
from engine.doctor.terminal import Terminal

__all__ = ["Area", "Finding", "State", "Terminal", "examine", "worst"]
