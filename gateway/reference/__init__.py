"""Generates and serves the API reference: OpenAPI, AsyncAPI, and a page for every reason of a refusal."""
