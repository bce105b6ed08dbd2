"""Classification where many rows are known but few labels."""
