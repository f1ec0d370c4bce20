"""Adapters to agent frameworks: one file and one extra each, imported only when used."""
