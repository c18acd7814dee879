"""The extensions: podium's own, those of installed plugins, and the options of each."""
