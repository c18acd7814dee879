"""What a judge is asked and how its reply is read: prompt out, verdict in, no I/O."""
