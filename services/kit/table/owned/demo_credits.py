"""The credits of the demonstration, which cost nothing and are given again when they are spent."""

from feltro.wallet.v1 import wallet_pb2

DEMO_CREDITS_CENTS = 100_000


def refill_request(player_id: str, request_id: str) -> wallet_pb2.RefillDemoAccountRequest:
    return wallet_pb2.RefillDemoAccountRequest(
        request_id=request_id, player_id=player_id, amount_cents=DEMO_CREDITS_CENTS
    )
