"""An example of a plugin: a store, an index, an embedder and a recipe, each named by an entry point."""
