"""The paper's experiments, each a function that writes a table and a figure. `semigp reproduce` runs them."""
