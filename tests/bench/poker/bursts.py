"""The longest that a hand keeps the event loop: what follows its last move without a pause, beside any other move.

The last move of nine-handed pot-limit Omaha is judged and applied, all hands are compared, the view that everybody gets
is built and packed, and the outcome is put on record. CPU time of the thread: other processes do not make it longer.
"""

from __future__ import annotations

import gc
import random
import time

from services.kit.cards.shoe import PACK
from services.kit.table.encoding import packed
from services.poker import messages
from services.poker.dealt_hand import DealtPoker
from services.poker.engine import Table
from services.poker.hand.state import CALL, CHECK, Kind, Move
from services.poker.lineup.entry import Positions
from services.poker.specific_rules import default_rules
from services.poker.variant import Variant

PLAYERS, BIG_BLIND, STACK = 9, 100, 10_000
# Few, for nearly every hand is to end with nine hands to compare; some are all in before the last card.
RAISES = 0.05
SEED = 9


def ratios(seconds: float) -> dict[str, float]:
    """Plays hands of which each has other cards."""
    table, generator = Table(default_rules(Variant.OMAHA, BIG_BLIND, seats=PLAYERS)), random.Random(SEED)
    moves_s: list[float] = []
    last_moves_s: list[float] = []
    # As in the service: what is there from the start is not looked at again.
    gc.freeze()
    until = time.process_time() + seconds
    while time.process_time() < until:
        *earlier, last = _hand(table, generator)
        moves_s += earlier
        last_moves_s.append(last)
    gc.unfreeze()
    moves_s.sort()
    last_moves_s.sort()
    move, last, longest = moves_s[len(moves_s) // 2], last_moves_s[len(last_moves_s) // 2], last_moves_s[-1]
    late = last_moves_s[int(len(last_moves_s) * 0.99)]
    print(f"bursts, omaha, {PLAYERS}-handed: {len(last_moves_s)} hands, CPU time on the event loop")
    print(f"  any move but the last: p50 {move * 1e3:.2f} ms")
    print(f"  the last: p50 {last * 1e3:.2f} ms, p99 {late * 1e3:.2f} ms, longest {longest * 1e3:.2f} ms", flush=True)
    return {
        "omaha-last-move-p50-to-move": last / move,
        "omaha-last-move-p99-to-move": late / move,
        "omaha-last-move-longest-to-move": longest / move,
    }


def _hand(table: Table, generator: random.Random) -> list[float]:
    """Plays one hand as the runtime does; what each of its moves takes."""
    positions = Positions(tuple(range(1, PLAYERS + 1)), (STACK,) * PLAYERS, ())
    dealt = DealtPoker(table, table.deal(positions, generator.sample(PACK, len(PACK))))
    took: list[float] = []
    while (turn := dealt.turn) is not None:
        move, shown = messages.move_message(_decision(dealt, generator)).SerializeToString(), dealt.cards_shown
        started = time.thread_time()
        dealt.judge(turn.seats[0], move)
        dealt = dealt.after(turn.seats[0], move, "")
        if dealt.turn is None:
            run_out = dealt.run_out(shown)
            packed(run_out[0].view if run_out else dealt.view())
            dealt.outcome.record.SerializeToString()
        else:
            packed(dealt.view())
        took.append(time.thread_time() - started)
    return took


def _decision(dealt: DealtPoker, generator: random.Random) -> Move:
    may = dealt.table.legal(dealt.hand)
    assert may is not None
    if may.can_raise and generator.random() < RAISES:
        return Move(Kind.RAISE, may.max_to_cents)
    return CALL if may.to_call_cents else CHECK
