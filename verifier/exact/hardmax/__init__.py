"""Hardmax attention as Frank–Wolfe: exact orbits, freezes, and what they prove about the energy bound."""
