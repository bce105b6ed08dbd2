"""Series with gaps."""
