"""Breaks a running bot in every way that can be named, and reads afterwards what people see."""
