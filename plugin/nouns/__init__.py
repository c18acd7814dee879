"""What users hold: battles, a ranking, a calibration and its file, labels by humans."""
