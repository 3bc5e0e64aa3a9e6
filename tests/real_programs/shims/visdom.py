"""Visdom without its server: every plot is accepted and dropped."""

from __future__ import annotations


class Visdom:
    """Takes any drawing call and answers with a window's name."""

    def __init__(self, *args, **kwargs) -> None:
        pass

    def __getattr__(self, name: str):
        return lambda *args, **kwargs: "window"
