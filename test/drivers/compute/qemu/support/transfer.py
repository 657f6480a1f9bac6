"""Measures the speed of one TCP connection between two network namespaces.

Arguments: the sender's namespace, the receiver's namespace, the receiver's address, and the number of bytes.
Prints bits per second, from the accepted connection until the last byte, so process startup does not count.
"""
import ctypes
import os
import socket
import sys
import threading
import time

CLONE_NEWNET = 0x40000000
PORT = 9000
CHUNK_BYTES = 65536

libc = ctypes.CDLL(None, use_errno=True)


def enter(namespace):
    fd = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(fd)


def send(address, count):
    with socket.create_connection((address, PORT), timeout=5) as sender:
        sender.settimeout(None)
        sender.sendall(bytes(count))


def main():
    sender_in, receiver_in, address, count = sys.argv[1:]
    enter(receiver_in)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server((address, PORT), family=family)
    listener.settimeout(10)
    # A socket stays in its namespace; threads started later use the new one.
    enter(sender_in)
    threading.Thread(target=send, args=(address, int(count)), daemon=True).start()
    receiver, _ = listener.accept()
    began = time.monotonic()
    received = 0
    while chunk := receiver.recv(CHUNK_BYTES):
        received += len(chunk)
    if received != int(count):
        raise ConnectionError("incomplete transfer")
    print(received * 8 / (time.monotonic() - began))


main()
