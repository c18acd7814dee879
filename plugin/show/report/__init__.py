"""Reports of rankings and calibrations, and the functions that write reports in each format."""
