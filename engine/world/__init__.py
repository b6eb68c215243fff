"""Objective truth, pure: the clock, who may know what, who is where, and the rules that apply a change."""
