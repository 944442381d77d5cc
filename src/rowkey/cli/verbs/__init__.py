"""The verbs of the command: one file each, holding a click command named `command`."""
