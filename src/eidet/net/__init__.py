"""Talking to servers: retries and deadlines, HTTP, event loops."""
