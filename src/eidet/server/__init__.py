"""Eidet over HTTP: REST under /v1, MCP under /mcp, a dashboard. It translates to verbs and adds no logic."""
