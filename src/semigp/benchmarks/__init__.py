"""Speed on this machine: `semigp bench`, `make bench`."""
