"""Read battles, scores and responses from Inspect's logs, and write rankings into them."""
