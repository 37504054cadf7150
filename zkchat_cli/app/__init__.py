"""The composition root: settings become an App, and that opens sessions. The only package that
constructs the others.
"""
