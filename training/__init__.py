"""Training of the local judge: inference pairs first, then medical pairs, then an ONNX export.

Nothing in `litrag/` imports this package; it needs torch, the product does not.
"""
