"""How other clients read the scenarios of the tests: `python -m benchmarks.comparison` writes `docs/comparison.md`."""
