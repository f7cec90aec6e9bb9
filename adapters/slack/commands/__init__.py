"""What people can do besides writing: commands, shortcuts, buttons, forms and the app's home."""
