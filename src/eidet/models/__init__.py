"""Ports to models: embedders, rerankers and LLMs."""
