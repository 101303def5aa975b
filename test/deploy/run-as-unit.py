"""Runs a program with two restrictions of its systemd unit: RestrictAddressFamilies and RestrictNamespaces=yes.

Usage: run-as-unit.py 'AF_INET AF_UNIX' program arguments...
"""

import ctypes
import errno
import os
import socket
import struct
import sys

SOCKET, UNSHARE = {"x86_64": (41, 272), "aarch64": (198, 97)}[os.uname().machine]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000

families = [int(getattr(socket, name)) for name in sys.argv[1].split()]
# Offsets in struct seccomp_data: 0 is the number of the system call, 16 its first argument.
instructions = [
    (LOAD, 0, 0, 0),
    (JUMP_IF_EQUAL, 0, 1, UNSHARE),
    (RETURN, 0, 0, ERRNO | errno.EPERM),
    (JUMP_IF_EQUAL, 0, len(families) + 2, SOCKET),
    (LOAD, 0, 0, 16),
]
for index, family in enumerate(families):
    instructions.append((JUMP_IF_EQUAL, len(families) - index, 0, family))
instructions += [(RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *instruction) for instruction in instructions))


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


libc = ctypes.CDLL(None, use_errno=True)
program = Program(len(instructions), ctypes.addressof(code))
for arguments in (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
    if libc.prctl(*arguments) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
