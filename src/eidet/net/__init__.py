"""Connections to servers: retries and deadlines, HTTP, event loops."""
