"""The search for an optimum, and its report."""
