"""Changing notes: proposed as a diff, then done completely or not at all."""
