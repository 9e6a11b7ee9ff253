"""Puts claimed falsifications of scientific papers on trial."""
