"""What people can do besides writing: commands, buttons and forms."""
