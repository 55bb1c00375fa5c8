"""The host under which other machines reach a process that listens at all addresses of its own."""

from __future__ import annotations

import socket
from ipaddress import ip_address

# In a container a process listens at all addresses, and the host name stands for the container's own.
_ALL_ADDRESSES = {"0.0.0.0": socket.AF_INET, "[::]": socket.AF_UNSPEC}  # noqa: S104 - not to listen there


class HostUnknown(Exception):
    """Nothing says where others reach this machine; the message says why."""


def reachable_host(listen_host: str) -> str:
    """Returns the host where a process listens, or this machine's address if that is all of its addresses."""
    if listen_host not in _ALL_ADDRESSES:
        return listen_host
    name = socket.gethostname()
    try:
        found = socket.getaddrinfo(name, None, _ALL_ADDRESSES[listen_host], socket.SOCK_STREAM)
    except OSError as unknown:
        raise HostUnknown(f"this machine's name, {name}, has no address ({unknown.strerror})") from None
    address = ip_address(str(found[0][4][0]))
    if address.is_loopback:
        raise HostUnknown(f"this machine's name, {name}, is {address} here, which others do not reach")
    return str(address) if address.version == 4 else f"[{address}]"
