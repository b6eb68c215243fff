"""Text from world files, models and people, made fit to be stored and shown.

A terminal obeys escape sequences and bidi overrides wherever they stand, SQLite and UTF-8 refuse lone surrogates, and
`length()` in SQLite stops at NUL. All of that ends here, once, where text enters.
"""

import re

_SEQUENCES = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\\\|\x9c)"  # OSC, DCS and kin, when closed
    "|\x1b[ -/]*[0-~]"  # other escapes of two or three characters
)
_BREAKS = re.compile("\r\n?|[\x85\u2028\u2029]|\x0b|\x0c")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # C0 and C1 but for tab and line feed
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"  # bidi controls and other marks that order text or show nothing
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"  # byte order mark, annotations, tags that hide text from people
)
_BROKEN = re.compile("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def clean(text: str) -> str:
    """The text without control characters, escape sequences and bidi controls; odd line breaks become `\\n`.

    Lone surrogates and non-characters become U+FFFD. Tabs, line feeds and joiners (needed by emoji and scripts) stay, and so
    does everything a reader can see: `[red]` is not markup here. Cleaning twice changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _SEQUENCES.sub("", text)
    text = _BREAKS.sub("\n", text)
    return _BROKEN.sub("\ufffd", _UNSEEN.sub("", text))


def one_line(text: str) -> str:
    """The cleaned text with every run of white space as one space, none at the ends."""
    return " ".join(clean(text).split())
