"""The model seam: one request in, a stream of deltas out. `base` has its types; `providers` and
`embedders` are registries.
"""
