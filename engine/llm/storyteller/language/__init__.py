"""As much English as the storyteller needs: verb forms, names in running text, sentences."""
