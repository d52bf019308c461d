"""The vocabulary of the product: plain Python and pydantic, no Django."""
