"""What doors read: queries, and the payloads and sentences built from them."""
