"""One small reader per file format; each turns a foreign table into the battles table."""
