"""The extractive summarizer: sentences chosen word for word, without a model."""
