"""Task `collapse`: what is left of a session, from its turns: facts, what was settled, what works, what is to be done."""
