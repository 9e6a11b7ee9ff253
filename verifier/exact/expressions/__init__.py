"""Witness claims: hypotheses and a conclusion as formulas about one assignment, decided by substitution."""
