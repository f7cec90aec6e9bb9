"""What chat platforms share."""
