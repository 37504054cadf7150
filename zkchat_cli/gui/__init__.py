"""`zkchat gui`: the chat in a window. The same engine, commands and views as the terminal, in
widgets of Qt.

The window never calls the engine itself: work runs on worker.py's threads, and what it yields comes
back as values.
"""
