"""Signs that are told apart without colour. Named here once: some look like letters."""

CURSOR = "\u203a"
REFUSED = "\u00d7"
OPEN, LOCKED = "\u2571", "\u2573"
SHUT_LEVEL, SHUT_UPRIGHT = "┃", "━"
PIN_HAND, PIN_MODEL, CANDIDATE, JUDGED = "■", "◆", "○", "●"
SPEECH, DEED, THOUGHT, ASIDE = "“", "·", "~", "»"
