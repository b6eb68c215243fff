"""What a sentence claims of whom, and whether two claims can hold together. Read from the words alone."""
