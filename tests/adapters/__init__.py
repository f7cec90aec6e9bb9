"""What is peculiar to one adapter, beyond its contract."""
