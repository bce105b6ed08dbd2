"""Measurements of speed on this machine: `semigp bench`, `make bench`."""
