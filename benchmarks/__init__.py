"""Measurements behind docs/benchmarks: one command per table. Nothing in `litrag/` imports this package."""
