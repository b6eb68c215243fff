"""`in the taproom`, `on the quay`: a place as the answer to where."""

from engine.mind.wordlists import AT_PLACES, ON_PLACES
from engine.records.world import Place


def where(place: Place) -> str:
    """The place with its preposition: the authored attribute `preposition`, else by the name's head noun, else `in`."""
    authored = place.attributes.get("preposition")
    if authored is not None and authored.value.strip():
        return f"{authored.value.strip()} {place.name}"
    head = place.name.split(" of ")[0].split(" by ")[0].split(" behind ")[0].split()
    noun = head[-1].lower() if head else ""
    return f"{'on' if noun in ON_PLACES else 'at' if noun in AT_PLACES else 'in'} {place.name}"
