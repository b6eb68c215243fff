"""What somebody knows, from a collapse on: conflict, merging, promotion, scopes, lifecycle, review and history (DESIGN 10)."""
