"""The verbs of a memory that a server keeps: `Client` and `AsyncClient`."""
