"""Fixed-structure H-infinity design over uncertain and scheduling parameters."""
