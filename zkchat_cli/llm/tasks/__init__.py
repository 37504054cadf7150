"""Single model calls with one purpose: a title, a description, one whole answer."""
