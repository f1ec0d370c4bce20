"""Eidet over HTTP: REST under /v1, MCP under /mcp, a dashboard. It translates to verbs and adds no logic.

server_settings.py  what whoever runs the server may choose
access.py           callers, their rights, scopes and limits; the keys file
middleware.py       checks every request: host, origin, key, rate, size; says who acts
serving.py          what a route needs: the memory, the keys, the settings, and `needs(right)`
errors.py           one shape for every error
rest/               the routes under /v1
serve.py            `create_app`, the FastAPI application; `eidet serve`: workers, TLS, stopping
"""
