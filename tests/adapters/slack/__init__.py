"""What is peculiar to Discord."""
