"""Small servers that speak the real protocols on real sockets, refusals included."""
