"""The promises of each port, written once and run for every implementation."""
