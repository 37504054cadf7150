"""Language in text: words, sentences, truncation, and text made safe for a terminal."""
