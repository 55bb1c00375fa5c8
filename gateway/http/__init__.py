"""Serves HTTP: connections, REST transcoding, problem documents, and the front-end's files."""
