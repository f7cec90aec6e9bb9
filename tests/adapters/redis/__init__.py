"""What is peculiar to Redis: sealing, the private server, and what happens when it goes away."""
