"""JSON documents: a document per id, changed at paths inside it, merged field by field, queried by content."""
