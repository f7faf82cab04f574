"""What keys and values mean: key-value pairs and JSON documents. Branches, files and locks are the store's."""
