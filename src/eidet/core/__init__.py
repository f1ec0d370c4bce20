"""The nouns every other package speaks of: frozen values, errors and checks, no I/O."""
