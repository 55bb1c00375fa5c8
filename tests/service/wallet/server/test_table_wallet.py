"""A table's own client of the wallet pays stakes of a round that goes on: over takeovers, and a wallet that dies."""

from __future__ import annotations

import asyncio

import pytest

from feltro.wallet.v1 import types_pb2
from services.kit.refusal import Refused
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.table.fencing import StaleOwner
from services.kit.table.wallet.grpc_client import GrpcWallet
from services.kit.table.wallet.table_wallet import TableWallet
from tests.processes.wallet import WalletProcess

ROUND = "salon.1"


@pytest.mark.rule("805/2015:20.a")
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G8")
async def test_g3_the_next_owner_repeats_a_payment_and_settles_the_rest(wallet_process: WalletProcess) -> None:
    wallet_process.start()
    await wallet_process.ready()
    channel = RelayChannel(wallet_process.address)
    async with wallet_process.client() as client:
        wallet = GrpcWallet(channel, lambda: client.game)
        table = await client.open_table("salon")
        ana = await client.sit_down("ana", "salon", 10_000)
        round_ = types_pb2.RoundRef(round_id=ROUND, table=table)
        first, second = [await client.place(ana, round_, cents) for cents in (200, 300)]
        former, owner = TableWallet(wallet, "salon", 1), TableWallet(wallet, "salon", 2)

        wallet_process.kill()
        # Nobody answers: the payment is repeated until the wallet is back.
        paying = asyncio.create_task(former.pay_stakes(ROUND, {first.stake_id: 500}, f"{ROUND}:pay:1"))
        wallet_process.start()
        paid = await paying
        assert [(each.staked_cents, each.payout_cents) for each in paid.results] == [(200, 500)]

        assert await owner.pay_stakes(ROUND, {first.stake_id: 500}, f"{ROUND}:pay:1") == paid
        with pytest.raises(Refused) as refused:
            await owner.pay_stakes(ROUND, {first.stake_id: 501}, f"{ROUND}:pay:1")
        assert refused.value.reason == "REQUEST_REUSED"
        # The former owner learns that it has lost the table.
        with pytest.raises(StaleOwner):
            await former.pay_stakes(ROUND, {second.stake_id: 0}, f"{ROUND}:pay:2")

        settled = await owner.settle_round(ROUND, {second.stake_id: 0}, b"record", [ana.session_id])
        assert [(each.staked_cents, each.payout_cents, each.balance.free_cents) for each in settled.results] == [
            (500, 500, 10_000)
        ]
    await channel.close()
