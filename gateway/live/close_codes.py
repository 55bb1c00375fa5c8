"""The codes that WebSockets are closed with: what each means, and what the client should do."""

from __future__ import annotations

from enum import IntEnum


class CloseCode(IntEnum):
    """The gateway's own reasons; 1002, 1007 and 1009 beside them say what was wrong with the client's frames."""

    INTERNAL_ERROR = 1011
    RESTARTING = 1012
    TOKEN_EXPIRED = 4401
    LOGIN_NEEDED = 4402
    TOKEN_REVOKED = 4403
    TOO_SLOW = 4408
    HEARTBEAT_MISSED = 4410
    TOO_MANY_CALLS = 4429
    TABLE_UNAVAILABLE = 4503


EXPLANATIONS: dict[CloseCode, str] = {
    CloseCode.INTERNAL_ERROR: "Something has failed here: connect again, and send again what was not answered.",
    CloseCode.RESTARTING: "The gateway stops: connect again after the pause that its notice named.",
    CloseCode.TOKEN_EXPIRED: "The token has expired: connect again with a new one; `refresh` in time avoids it.",
    CloseCode.LOGIN_NEEDED: "Nothing was done for too long: log in anew.",
    CloseCode.TOKEN_REVOKED: "The token was revoked: do not connect again with it.",
    CloseCode.TOO_SLOW: "The client reads too slowly: connect again, and watch less.",
    CloseCode.HEARTBEAT_MISSED: "The heartbeat was not answered: connect again.",
    CloseCode.TOO_MANY_CALLS: "Too many messages or connections: connect again later, and ask less.",
    CloseCode.TABLE_UNAVAILABLE: "The table can no longer be shown: connect again, after a pause that grows.",
}

# Codes of RFC 6455, as the gateway uses them.
STANDARD_EXPLANATIONS = {
    1000: "As agreed: the client has closed.",
    1002: "The client has broken the WebSocket protocol.",
    1003: "The client has sent a binary message: only text is understood.",
    1007: "The client has sent text that is not UTF-8.",
    1009: "The client has sent a message larger than is taken.",
}


def close_code_for_reason(reason: str) -> CloseCode:
    """Returns the code that closes a connection whose principal would be refused for this reason."""
    codes = {"TOKEN_EXPIRED": CloseCode.TOKEN_EXPIRED, "LOGIN_NEEDED": CloseCode.LOGIN_NEEDED}
    return codes.get(reason, CloseCode.TOKEN_REVOKED)
