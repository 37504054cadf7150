"""Citation marks in an answer, as they are written."""
