"""The values that all other packages share: frozen values, errors and checks, no I/O."""
