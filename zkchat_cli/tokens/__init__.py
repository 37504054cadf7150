"""Counting tokens, offline and exactly."""
