"""The report of a model: one page that needs no network."""
