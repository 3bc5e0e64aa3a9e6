"""What is read: settings and paths -> files, texts and trees -> a project with its imports."""
