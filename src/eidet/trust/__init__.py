"""What protects memories: privacy, encryption, the audit log and erasure."""
