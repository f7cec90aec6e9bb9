"""What Cohere's adapters do, over a real socket."""
