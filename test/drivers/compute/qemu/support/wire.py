"""Sends and receives raw frames on interfaces of several network namespaces.

The argument is a JSON list of [name, namespace, interface]. Each line of standard input is a request:
{"send": [[name, hex], ...], "until": [hex, ...]}. The frames are sent in order. Once every text of `until` was
seen within a received frame, the response is one line with all received frames: [[name, hex], ...].
"""
import ctypes
import json
import os
import select
import socket
import sys
import time

CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 8 * 1024 * 1024
ANSWER_MAX_S = 10

libc = ctypes.CDLL(None, use_errno=True)


def open_in(namespace, interface):
    fd = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(fd)
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    opened.bind((interface, ETH_P_ALL))
    opened.setblocking(False)
    return opened


def take(sockets):
    """Returns all frames that have arrived."""
    arrived = []
    for name, each in sockets.items():
        while True:
            try:
                frame, (_, _, kind, *_) = each.recvfrom(65536)
            except BlockingIOError:
                break
            if kind != socket.PACKET_OUTGOING:
                arrived.append([name, frame.hex()])
    return arrived


def carry_out(sockets, order):
    for name, frame in order["send"]:
        sockets[name].send(bytes.fromhex(frame))
    waited_for = set(order["until"])
    arrived = []
    until = time.monotonic() + ANSWER_MAX_S
    while waited_for:
        if time.monotonic() > until:
            raise TimeoutError("a marker frame did not arrive")
        select.select(list(sockets.values()), [], [], 0.1)
        arrived += take(sockets)
        waited_for = {text for text in waited_for if not any(text in frame for _, frame in arrived)}
    return arrived + take(sockets)


def main():
    # On a single CPU, frames keep their order from end to end.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sockets = {name: open_in(namespace, interface) for name, namespace, interface in json.loads(sys.argv[1])}
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(carry_out(sockets, json.loads(line))), flush=True)


main()
