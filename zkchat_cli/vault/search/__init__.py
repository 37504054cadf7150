"""Search: queries, candidates, ranking, and search by meaning."""
