"""Measurements of one step of other libraries. Each script runs in the environment of its library, without semigp."""
