"""Piecewise affine maps: exact orbits, invariant sets and spectra that prove a claim about an orbit false."""
