"""The store on a PostgreSQL server, for several machines and people. Only this package imports
psycopg (extra `zkchat[postgres]`), and it is imported only if `store.url` names a server.
"""
