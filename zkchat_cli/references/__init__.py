"""What an answer rests on: the documents a message names, the chunks tools bring in, and whether citations hold."""
