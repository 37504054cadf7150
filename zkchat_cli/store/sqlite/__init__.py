"""The store in one SQLite file: the implementation of the ports in `zkchat_cli.store.port`.

Only `app.stores`, `zkchat doctor` and tests import it, and only this package of the store has SQL.
"""
