"""Conversations on disk, in one SQLite file: nothing that was said is lost, and no SQL leaves this package.

`chat_session_store` is the store; the other modules are its tables (`conversations`, `messages`, `compactions`, `sent_prompts`, `facts`,
`message_search`) and its tools (`database` opens the file, `schema` has its tables, `rows` maps values to rows, `repair` saves what can be
read of a damaged file).
"""
