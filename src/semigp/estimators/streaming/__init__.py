"""The same for more rows than fit in memory."""
