"""Many rows, few labels."""
