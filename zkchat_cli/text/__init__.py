"""Text of natural languages: words, sentences, truncation, and text made safe for a terminal."""
