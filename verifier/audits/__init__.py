"""Basis audits: do two numbers stand on the same basis? One module a mechanism, one public function each."""
