"""What is around every HTML page with a script: one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from html import escape
from importlib.resources import files

#: What is not seen, or turns what is seen around.
UNSEEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff]"
)


def document(title: str, body: str, style: str, script: str, images: str = "'none'") -> str:
    """Return a page; `body` is HTML. It may load nothing and run no script but this one.

    `style` comes after the look that all such pages share: colours, light and dark, letters.
    `images` are those that it may show: "data:" for what it draws itself.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src {images}; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>\n{_look()}{style}</style>\n</head>\n"
        f"<body>\n{body}\n<script>{script}</script>\n</body>\n</html>\n"
    )


@cache
def _look() -> str:
    return (files(__package__) / "shell.css").read_text("utf-8")


def visible(plain: str) -> str:
    """Return a text in which what is not seen is written out."""
    if plain.isascii() and plain.isprintable():
        return plain
    return UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", plain)


def text(plain: str) -> str:
    """Return somebody's text as HTML, with what is not seen written out."""
    return escape(visible(plain))
