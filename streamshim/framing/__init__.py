"""Bytes in, frames out: event-stream framing, and bodies that are no event stream."""
