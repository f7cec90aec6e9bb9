"""What chat platforms share, free of vendors."""
