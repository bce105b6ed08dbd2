"""The sparse GP in batches, for more rows than fit in memory."""
