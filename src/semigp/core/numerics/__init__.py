"""The building blocks of every engine: types, precision, linear algebra, chunks of rows, checks."""
