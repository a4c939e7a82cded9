"""gRPC: messages of 1 MiB to a server of this process, and back."""

import os
import tempfile
from concurrent import futures

import grpc
from repeat import noise, repeat

message = noise(1 << 20)
echo = grpc.unary_unary_rpc_method_handler(lambda request, _: request)
folder = tempfile.TemporaryDirectory()
address = f"unix:{os.path.relpath(folder.name)}/s"
server = grpc.server(futures.ThreadPoolExecutor(1))
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("s", {"echo": echo})])
server.add_insecure_port(address)
server.start()
call = grpc.insecure_channel(address).unary_unary("/s/echo")
repeat(lambda: call(message), 2 << 20)
server.stop(None)
folder.cleanup()
