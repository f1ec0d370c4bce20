"""The graph of a scope: what its records state, who is who, what held when. It follows the store by seq."""
