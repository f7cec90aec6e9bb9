"""What is remembered for a time, in Redis or Valkey, sealed; and the private server that needs no set-up."""
