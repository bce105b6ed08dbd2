"""The paper's experiments and more, each a module that writes a table and a figure. `semigp reproduce` runs them."""
