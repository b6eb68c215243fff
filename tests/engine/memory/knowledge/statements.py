"""Pairs of statements, and how they stand to each other."""

from datetime import datetime

from engine.records.knowledge import KnowledgeKind, NewKnowledge
from engine.records.tokens import referred, token

G, M, B = token("g"), token("m"), token("b")

SCENES = [
    (f"{G} owns a boat.", f"{G} fears water.", "apart"),
    (f"{G} owns a boat.", f"{G} sold the boat.", "ends"),
    (f"{G} has a boat.", f"{G} sold his boat.", "ends"),
    (f"{G} owns a red boat.", f"{G} sold the boat to {M}.", "ends"),
    (f"{G} owns a red boat.", f"{G} sold the blue boat.", "!ends"),
    (f"{G} owns a boat, the Heron.", f"{G} sold the boat.", "ends"),
    (f"{G} owns a boat, a mule.", f"{G} sold the mule.", "!ends"),
    (f"{G} owns a boat and a mule.", f"{G} sold the mule.", "!ends"),
    (f"{G} owns a red cart and a black cart.", f"{G} sold the red cart.", "unclear"),
    (f"{G} owns a red cart and a black cart.", f"{G} sold his carts.", "!disputes"),
    (f"{G} owns a mill and a boat.", f"{G} no longer owns the boat.", "unclear"),
    (f"{G} owns a mill and a boat.", f"{G} does not own a boat.", "unclear"),
    (f"{G} serves the Duke and the Queen.", f"{G} no longer serves the Duke.", "unclear"),
    (f"{G} owns three boats.", f"{G} sold a boat.", "!ends"),
    (f"{G} sold the boat.", f"{G} bought the boat back.", "ends"),
    (f"{G} sold the boat.", f"{G} bought the mule back.", "!ends"),
    (f"{G} sold the boat.", f"{G} bought a horse.", "!ends"),
    (f"{G} owns a fish stall.", f"{G} sold fish at the market.", "!ends"),
    (f"{G} has a way with horses.", f"{G} lost his way.", "!ends"),
    (f"{G} owns a boat.", f"{G}'s boat sank.", "ends"),
    (f"{G} owns a boat.", f"{G}'s boat was stolen.", "ends"),
    (f"{G} owns a boat.", f"{G} sold {M}'s boat.", "!ends"),
    (f"{G} owns a boat.", f"{G} did not sell the boat.", "!ends"),
    (f"{G} owns a boat.", f"{G} no longer owns a boat.", "ends"),
    (f"{G} owns a boat.", f"{G} does not own a boat.", "disputes"),
    (f"{G} owns a red boat.", f"{G} does not own a boat.", "disputes"),
    (f"{G} used to own a boat.", f"{G} owns a boat.", "ends"),
    (f"{G} serves the Duke.", f"{G} stopped serving the Duke.", "ends"),
    (f"{G} serves the Duke.", f"{G} no longer serves the Duke.", "ends"),
    (f"{G} serves the Duke.", f"{G} serves the Queen.", "unclear"),
    (f"{G} is alive.", f"{G} is dead.", "disputes"),
    (f"{G} is sick.", f"{G} is healthy.", "disputes"),
    (f"{G} owns a sick mule.", f"{G} owns a healthy mule.", "!disputes"),
    (f"{G} is not a smith.", f"{G} hates the smith.", "!disputes"),
    (f"{G} likes ale.", f"{G} hates ale.", "disputes"),
    (f"{G} likes {M}.", f"{G} hates {B}.", "!disputes"),
    (f"{G} owes {M} forty crowns.", f"{G} owes {M} fifty crowns.", "disputes"),
    (f"{G} owes {M} forty crowns.", f"{G} owes {M} 40 crowns.", "same"),
    (f"{G} paid {M} three coins.", f"{G} paid {M} five coins.", "unclear"),
    (f"{G} has three sons.", f"{G} has two daughters.", "!disputes"),
    (f"{G} will sail at dawn.", f"{G} will sail at dusk.", "disputes"),
    (f"{G} is married to {M}.", f"{G} is married to {B}.", "disputes"),
    (f"{G} knows {M}.", f"{G} knows {B}.", "unclear"),
    (f"{G} gave {M} a horse.", f"{M} gave {G} a horse.", "apart"),
    (f"{G} has a boat.", f"{G} owns a boat.", "same"),
    (f"{G} owns a boat.", f"{G} owns a red boat.", "more"),
    (f"{G} hid the key in the mill.", f"{G} hides the book of debts beneath the counter.", "unclear"),
    ("The door is open.", "The door is locked.", "disputes"),
    ("The north gate is guarded.", "The south gate is guarded.", "!disputes"),
    ("The tavern opens at six.", "The tavern opens at seven.", "disputes"),
    ("The captain is Holt.", "The captain is Reed.", "disputes"),
    ("The key hangs behind the bar.", "The key no longer hangs behind the bar.", "ends"),
    ("The key hangs behind the bar.", "The key does not hang behind the bar.", "disputes"),
    ("The road from the loft leads to the landing.", "The road from the landing leads to the loft.", "!same"),
]
TEXTS = sorted({text for pair in SCENES for text in pair[:2]})


def said(text: str, *, kind: KnowledgeKind = "fact", topic: str = "", rationale: str = "") -> NewKnowledge:
    """A statement about whom it names first."""
    return NewKnowledge(
        owner_id="o", subject_id=next(iter(referred(text)), None) if text.startswith("{{") else None, kind=kind, content=text,
        topic_key=topic, rationale=rationale, confidence=0.8, valid_from=datetime(1247, 3, 1), scope_id="o",
    )
