"""What outlasts a conversation: memory files in the vault (`files`, `project`), facts and notes that are often cited (`smart`), what was
said in earlier conversations (`sayings`). `keeper` has all of it for one session.
"""
