"""The language server: findings, fixes and places in an editor, by the Language Server Protocol.

`analysis` knows files and findings and nothing of the protocol, `edits` turns places and texts into
those of the protocol, and `protocol` answers the editor. Needs pygls: `samedevice[server]`.
"""

from __future__ import annotations

from .protocol import Server, serve

__all__ = ["Server", "serve"]
