"""Missing entries drawn from chained GPs: every column a GP of all the others."""
