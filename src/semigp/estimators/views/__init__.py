"""Several views of the same rows: SharedGPLVM."""
