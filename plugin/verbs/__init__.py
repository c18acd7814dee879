"""What users do: rank battles, replay tournaments on them, calibrate a judge; one file a verb."""
