"""What is shown, as values: pure functions from values to styled lines."""
