"""A fit whose rows are spread over devices and processes."""
