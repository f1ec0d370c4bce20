"""Protection of memories: privacy, encryption, the audit log and erasure."""
