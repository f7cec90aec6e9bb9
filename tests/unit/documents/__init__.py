"""What reads and searches documents, with doubles in the place of the world."""
