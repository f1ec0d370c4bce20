"""Eidet over HTTP: REST under /v1, MCP under /mcp, a dashboard. Routes call verbs and add no logic.

server_settings.py  the settings of an operator
access.py           callers, their rights, scopes and limits; the keys file
middleware.py       checks the host, origin, key, rate and size of every request; sets who acts
serving.py          the state that routes share: memory, keys, settings; and `needs(right)`
errors.py           one shape for every error
rest/               the routes under /v1
serve.py            `create_app`, the FastAPI application; `eidet serve`: workers, TLS, stopping
"""
