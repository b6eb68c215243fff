"""Run by itself, in a process of its own: llama.cpp's server on loopback over one model file, until the parent is gone.

usage: serve.py MODEL.gguf WINDOW, with the key that it asks of callers in the environment as `LLAMA_KEY`; it asks for none when that is
empty. Writes its address to standard output when it is ready. The constructor of the server holds the interpreter for as long as the
model loads: that is why it is not run inside of the tests.
"""

import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Serve until standard input ends: it does when whoever started this dies, in whatever way."""
    xllamacpp: Any = import_module("xllamacpp")  # untyped, and only here for some platforms
    model, window = sys.argv[1], int(sys.argv[2])
    params = xllamacpp.CommonParams()
    params.model.path = model
    if key := os.environ.pop("LLAMA_KEY"):
        params.api_keys = [key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # any that is free
    params.n_ctx, params.n_parallel = window, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # more of them wait for each other when the machine is busy
    params.n_gpu_layers = 0
    params.offline, params.ui, params.use_jinja = True, False, True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
