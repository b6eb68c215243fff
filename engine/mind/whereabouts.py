"""`in the taproom`, `on the quay`: a place as the answer to where."""

from engine.records.world import Place

_ON = frozenset(
    "quay pier jetty wharf dock mole deck bridge beach strand shore roof road street lane path stair stairs landing balcony terrace "
    "hill cliff slope island isle ledge rampart ramparts platform porch steps causeway ridge square lawn catwalk walkway".split()
)
_AT = frozenset("gate door crossroads bar counter window edge end foot top mouth entrance".split())


def where(place: Place) -> str:
    """The place with its preposition: the authored attribute `preposition`, else by the name's head noun, else `in`."""
    authored = place.attributes.get("preposition")
    if authored is not None and authored.value.strip():
        return f"{authored.value.strip()} {place.name}"
    head = place.name.split(" of ")[0].split(" by ")[0].split(" behind ")[0].split()
    noun = head[-1].lower() if head else ""
    return f"{'on' if noun in _ON else 'at' if noun in _AT else 'in'} {place.name}"
