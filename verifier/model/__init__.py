"""Words, tables and exact numbers. No input, no output."""
