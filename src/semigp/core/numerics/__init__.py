"""What every engine is made of: types, precision, linear algebra, chunks of rows, checks."""
