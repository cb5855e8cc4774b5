"""A real model server on 127.0.0.1 with a toy model behind it, perfect unless it is told to be sloppy.

with serve_model() as server:
    client = openai.OpenAI(base_url=server.base_url, api_key="any")
"""

from .server import ModelServer, Request, serve_model

__all__ = ["ModelServer", "Request", "serve_model"]
