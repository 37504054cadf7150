"""What can be typed next, in every front end: `/commands` with their help and arguments,
`[[notes#headings`, `@files`, `#tags`, `@agents` at the beginning of a message.

`InputCompleter` finds out what is being typed (typed_text.py), and asks the completer of its kind
(completers.py).
"""
