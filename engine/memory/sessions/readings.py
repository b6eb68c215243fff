"""In how many ways a text can be read: what hides from a plain reading is read as it is meant. Pure."""

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

_UNSEEN: Final = re.compile(r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_SPACES: Final = re.compile(r"[^\S\n]+")
_LOOKALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u0501\u051b\u03bf\u03b1\u03b5\u03b9\u03bd\u03c1\u0391\u0395\u039f\u0410"
    "\u0415\u041e\u0420\u0421\u0425\u0406\u0405\u0399",
    "aeopcxyijsdloaeivpAEOAEOPCXISI",
)
"""Letters of other scripts that look like ours."""
_TAGS: Final = re.compile(r"<!--|-->|</?[A-Za-z][^<>\n]{0,80}>|\[/?[a-z]{1,8}(?:=[^\]\n]{0,40})?\]")
_MARKS: Final = re.compile(r"[*_~`|#\\{}\[\]<>\"\u201c\u201d\u00ab\u00bb]+")
_SPELLED: Final = re.compile(r"(?<!\w)\w(?:[ .\-_*]\w(?!\w)){3,}")
_APART: Final = re.compile(r"[ .\-_*]")
_FIGURES: Final = str.maketrans("0134578@$", "oieastbas")
_MIXED: Final = re.compile(r"\b(?=[\w@$]*[A-Za-z])(?=[\w@$]*[013457@$])[\w@$]{3,}\b")
_CODED: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX: Final = re.compile(r"\b(?:[0-9A-Fa-f]{2}[ :]?){12,}\b")
_LONGEST: Final = 20_000


def readings(text: str) -> Iterator[str]:
    """A text as it may be read, the plain way first: without what nobody sees, with letters for those that look like them, without
    markup, with words put together that were spelled out, with letters for figures, and what it holds in code."""
    plain = _plain(text[:_LONGEST])
    yield from _each(plain)
    for hidden in _decoded(plain):
        yield from _each(_plain(hidden))


def _each(plain: str) -> Iterator[str]:
    joined = _SPELLED.sub(lambda run: _APART.sub("", run.group()), plain)
    without = " ".join(_MARKS.sub("", _TAGS.sub("", html.unescape(joined))).split())
    lettered = _MIXED.sub(lambda word: word.group().translate(_FIGURES), without)
    texts = (plain, plain.replace("\n", " "), without, lettered)
    yield from dict.fromkeys(one for text in texts for one in (_SPACES.sub(" ", text), _SPACES.sub(" ", text.translate(_LOOKALIKES))))


def _plain(text: str) -> str:
    """Composed, with what is not seen taken away."""
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text))


def _decoded(text: str) -> Iterator[str]:
    """What runs of signs say that look like code, where they say something."""
    if "%" in text and (unquoted := unquote(text)) != text:
        yield unquoted
    for found in _CODED.finditer(text):
        run = found.group().rstrip("=")
        raw = _bytes(base64.b64decode, (run + "=" * (-len(run) % 4)).translate(str.maketrans("-_", "+/")))
        yield from _words(raw)
    for found in _HEX.finditer(text):
        yield from _words(_bytes(bytes.fromhex, re.sub(r"[ :]", "", found.group())))


def _bytes(decode: Callable[[str], bytes], code: str) -> bytes:
    try:
        return decode(code)
    except (binascii.Error, ValueError):
        return b""


def _words(raw: bytes) -> Iterator[str]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return
    if text and sum(sign.isprintable() or sign == "\n" for sign in text) >= 0.95 * len(text):
        yield text
