"""Frames in, events out. `StreamDecoder` is the only public name of this room."""

from .decoder import StreamDecoder

__all__ = ["StreamDecoder"]
