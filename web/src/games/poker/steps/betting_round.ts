// The money of a hand as its decisions move it: who bet what, when a betting round ends, and the pots in layers.
import type { Cents } from "../../../words/money";
import type { Action } from "../messages/messages";
import type { PotPicture } from "../round/picture";

export interface SeatMoney {
  seat: number;
  stack_cents: Cents;
  /** In this betting round. */
  bet_cents: Cents;
  /** In the hand, this betting round not counted. */
  collected_cents: Cents;
  folded: boolean;
  /** Has decided since the last raise. */
  acted: boolean;
}

export type Money = readonly SeatMoney[];

export function post(money: Money, seat: number, cents: Cents): Money {
  return money.map((each) => (each.seat === seat ? bet(each, each.bet_cents + cents) : each));
}

/** The money after a decision. */
export function decide(money: Money, seat: number, action: Action, to_cents: Cents): Money {
  const level = levelOf(money);
  const raises = action === "ACTION_RAISE";
  return money.map((each) => {
    if (each.seat !== seat) return raises ? { ...each, acted: false } : each;
    if (action === "ACTION_FOLD") return { ...each, folded: true, acted: true };
    const wanted = raises ? to_cents : action === "ACTION_CALL" ? level : each.bet_cents;
    return { ...bet(each, wanted), acted: true };
  });
}

/** Whether nobody has anything to decide any more in this betting round (806/2015:40). */
export function isRoundOver(money: Money): boolean {
  const live = money.filter(({ folded }) => !folded);
  if (live.length < 2) return true;
  const level = levelOf(money);
  const able = live.filter(({ stack_cents }) => stack_cents > 0);
  // Who could only bet against themselves is not asked.
  if (able.length < 2) return able.every(({ bet_cents }) => bet_cents >= level);
  return able.every(({ acted, bet_cents }) => acted && bet_cents === level);
}

/** The money when the bets of a betting round lie in the pots; what nobody called goes back first. */
export function collect(money: Money): Money {
  const [highest = 0, second = 0] = money.map(({ bet_cents }) => bet_cents).sort((one, other) => other - one);
  return money.map((each) => {
    const back = each.bet_cents === highest ? highest - second : 0;
    return {
      ...each,
      stack_cents: each.stack_cents + back,
      collected_cents: each.collected_cents + each.bet_cents - back,
      bet_cents: 0,
      acted: false,
    };
  });
}

/** The pots in layers, one for each amount that players in the hand have put in (806/2015:41, 42). */
export function potsOf(money: Money): PotPicture[] {
  const live = money.filter(({ folded }) => !folded);
  const levels = [...new Set(live.map(({ collected_cents }) => collected_cents))].sort((one, other) => one - other);
  const most = Math.max(0, ...money.map(({ collected_cents }) => collected_cents));
  if (levels.length > 0) levels[levels.length - 1] = most;
  const pots: PotPicture[] = [];
  let below = 0;
  for (const level of levels) {
    if (level <= below) continue;
    const cents = money.reduce((sum, each) => sum + Math.max(0, Math.min(each.collected_cents, level) - below), 0);
    const seats = live.filter(({ collected_cents }) => collected_cents > below).map(({ seat }) => seat);
    pots.push({ cents, seats: levels.length === 1 ? live.map(({ seat }) => seat) : seats });
    below = level;
  }
  return pots;
}

export function totalOf(money: Money): Cents {
  return money.reduce((sum, { bet_cents, collected_cents }) => sum + bet_cents + collected_cents, 0);
}

function levelOf(money: Money): Cents {
  return Math.max(...money.map(({ bet_cents }) => bet_cents));
}

/** Never more than the player has. */
function bet(seat: SeatMoney, wanted: Cents): SeatMoney {
  const added = Math.min(seat.stack_cents, Math.max(0, wanted - seat.bet_cents));
  return { ...seat, stack_cents: seat.stack_cents - added, bet_cents: seat.bet_cents + added };
}
