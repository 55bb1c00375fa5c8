"""The one piece of protobuf's wire format that is worth knowing: a message inside a message is its bytes with a header.

It lets bytes that were encoded once (a stored answer, a movement) become part of a larger message unread and unchanged.
"""


def embedded(field_number: int, message: bytes) -> bytes:
    """The bytes of a message as the value of a field of another one."""
    return _varint(field_number << 3 | 2) + _varint(len(message)) + message


def _varint(number: int) -> bytes:
    if number < 0x80:
        return number.to_bytes(1, "little")
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
