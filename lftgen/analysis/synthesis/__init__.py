"""Synthesis of controllers at one point, verified."""
