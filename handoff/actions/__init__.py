"""The only writers of the handoff tables: one verb, one file, one transaction."""
