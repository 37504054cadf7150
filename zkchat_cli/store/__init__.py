"""Conversations on disk, in one SQLite file: nothing that was said is lost, and no SQL leaves this
package.
"""
