"""Is one model better than another: differences with their errors, and gates made of them."""
