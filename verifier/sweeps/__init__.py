"""Grids of content-addressed units, their streams, their store, and where they run."""
