"""Model calls on tape: recorded as a game is played, and replayed without any model.

A tape is begun with the game's world; then `recorded` and `recorded_embedder`, or `replayed` and `replayed_embedder`, give what the
game uses.
"""

from engine.llm.cassette.differing import NotOnTapeError
from engine.llm.cassette.index import TapeError, is_tape
from engine.llm.cassette.playback import Playback
from engine.llm.cassette.recorder import Recorder
from engine.llm.cassette.recording import Recording, recorded, recorded_embedder
from engine.llm.cassette.replaying import Replayed, replayed, replayed_embedder

Tape = Recorder | Playback

__all__ = [
    "NotOnTapeError", "Playback", "Recorder", "Recording", "Replayed", "Tape", "TapeError", "is_tape", "recorded", "recorded_embedder",
    "replayed", "replayed_embedder",
]
