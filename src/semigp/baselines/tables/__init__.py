"""Ways of practice with tables that have holes: predicting from them, and filling them."""
