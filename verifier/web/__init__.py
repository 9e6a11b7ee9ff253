"""The ledger over HTTP: what anybody may read, and what the holder of a token may append."""
