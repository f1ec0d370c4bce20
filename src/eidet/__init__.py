"""Eidet: a memory for AI agents."""
