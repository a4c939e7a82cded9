"""ZeroMQ: messages of 1 MiB through a socket inside the process."""

import zmq
from repeat import noise, repeat

message = noise(1 << 20)
context = zmq.Context()
receiver, sender = context.socket(zmq.PULL), context.socket(zmq.PUSH)
receiver.bind("inproc://messages")
sender.connect("inproc://messages")


def pass_on() -> bytes:
    for _ in range(16):
        sender.send(message)
        last = receiver.recv()
    return last


repeat(pass_on, 16 << 20)
