"""Hands a stream on, repaired: the bytes of a vendor's stream in, those of a legal stream of the same API out."""

from .relay import Relay, chat_relay, responses_relay

__all__ = ["Relay", "chat_relay", "responses_relay"]
