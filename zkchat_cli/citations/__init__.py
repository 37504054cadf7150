"""Citation marks of an answer become verified citations."""
