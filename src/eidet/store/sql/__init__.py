"""Stores on SQL databases: SQLite and PostgreSQL share everything but their drivers."""
