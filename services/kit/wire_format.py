"""Embeds encoded protobuf messages in larger ones, unread and unchanged: stored answers, transactions, events.

In protobuf's wire format a message inside a message is its bytes behind a short header.
"""

_ONE_BYTE, _TWO_BYTES = 1 << 7, 1 << 14


def embedded(field_number: int, message: bytes) -> bytes:
    """Returns an encoded message as the value of a field of another one; for field numbers up to 15."""
    tag, length = field_number << 3 | 2, len(message)
    if length < _ONE_BYTE:
        return bytes((tag, length)) + message
    if length < _TWO_BYTES:
        return bytes((tag, length & 0x7F | 0x80, length >> 7)) + message
    header = bytearray((tag,))
    while length >= _ONE_BYTE:
        header.append(length & 0x7F | 0x80)
        length >>= 7
    header.append(length)
    return bytes(header) + message
