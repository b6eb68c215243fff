"""Task `decode`: prose taken apart into speech, thoughts and deeds."""
