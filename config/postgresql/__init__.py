"""Django's PostgreSQL backend, in which nothing waits for a frozen server past a deadline."""
