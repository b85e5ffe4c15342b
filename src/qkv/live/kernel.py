"""IPython kernel that opens no TCP port, where the others of its sockets are files.

ipykernel takes what forked children print at a port on 127.0.0.1, whatever transport it is given.
Every user of the machine may connect there and send a message without end, which ZeroMQ keeps in
memory; its limit for the size of a part (MAXMSGSIZE) would leave the number of parts.
"""

from __future__ import annotations

import os
import runpy

import zmq
from ipykernel import kernelapp
from ipykernel.iostream import IOPubThread
from zmq.eventloop.zmqstream import ZMQStream


class FileIOPubThread(IOPubThread):
    """IOPubThread that forked children reach by a socket file beside the kernel's others."""

    def _setup_pipe_in(self) -> None:
        self._pipe_uuid = os.urandom(16)  # ipykernel drops what lacks it
        own = self.socket.getsockopt(zmq.LAST_ENDPOINT).decode()
        self._pipe_address = f"{own.rpartition('-')[0]}-0"  # the kernel's are numbered from 1
        pipe = self.socket.context.socket(zmq.PULL)
        pipe.linger = 0
        pipe.bind(self._pipe_address)
        self._pipe_in = ZMQStream(pipe, self.io_loop)
        self._pipe_in.on_recv(self._handle_pipe_msg)

    def _setup_pipe_out(self) -> tuple[zmq.Context[zmq.Socket[bytes]], zmq.Socket[bytes]]:
        context = zmq.Context()  # one's own, after a fork
        pipe = context.socket(zmq.PUSH)
        pipe.linger = 3000  # ms, as ipykernel waits
        pipe.connect(self._pipe_address)
        return context, pipe


if __name__ == "__main__":
    kernelapp.IOPubThread = FileIOPubThread  # type: ignore[attr-defined]
    runpy.run_module("ipykernel_launcher", run_name="__main__")
