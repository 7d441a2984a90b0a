"""Pass connections on, PORT to HOST:22, but stand still now and then on the way back: a congested network.

    python3 stalling_relay.py PORT HOST
"""
import socket
import sys
import threading
import time

PIECE, PAUSE = 48_000, 0.8  # it stands still for so long after so many bytes


def upstream(client, server):
    try:
        while data := client.recv(65536):
            server.sendall(data)
    except OSError:
        pass
    server.close()


def serve(client, host):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what stands still fills up soon
    server.connect((host, 22))
    threading.Thread(target=upstream, args=(client, server), daemon=True).start()
    left = PIECE
    try:
        while data := server.recv(4096):
            client.sendall(data)
            left -= len(data)
            if left <= 0:
                left = PIECE
                time.sleep(PAUSE)
    except OSError:
        pass
    client.close()


with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
    print("ready", flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0], sys.argv[2]), daemon=True).start()
