"""Programs that show LitRAG's parts in other settings."""
