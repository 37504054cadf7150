"""The extractive summarizer: chooses sentences of the conversation word for word, without a model."""
