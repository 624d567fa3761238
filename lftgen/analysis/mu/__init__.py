"""Bounds of the structured singular value."""
