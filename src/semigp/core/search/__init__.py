"""How optima are searched for, and what a search tells."""
