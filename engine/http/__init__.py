"""Sessions and knowledge of one open save over HTTP, for programs (extra `serve`). Nothing else in the engine knows of it."""
