"""What users hold: battles, an estimate, a ranking, a calibration and its file, labels by
humans."""
