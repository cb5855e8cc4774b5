"""Benchmarks: `python -m benchmarks`. Everything is generated; nothing is read from the network or from disk."""
