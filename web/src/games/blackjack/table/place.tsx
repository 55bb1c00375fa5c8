// One place: its circle with the bet, its hands above it, and whose it is.
import { useServerNow } from "../../../design/use_clock";
import { amount, type Cents, cents, shortAmount, signedAmount } from "../../../words/money";
import { TurnRing } from "../decide/turn_ring";
import { turnTime } from "../decide/turn_time";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import { PlayerHand } from "../hands/player_hand";
import { handCardWidth, type TableGeometry } from "../layout/geometry";
import { placesResult } from "../round/hand_results";
import { blackjackWords } from "../words/table_words";
import { ChipPile } from "./chip_pile";
import "./place.css";

interface Props {
  felt: BlackjackFelt;
  geometry: TableGeometry;
  number: number;
  /** The player's own hands lie elsewhere. */
  enlarged: boolean;
}

export function Place({ felt, geometry, number, enlarged }: Props) {
  const { places, circle, card, width } = geometry;
  const at = places[number - 1];
  const picture = felt.cards.picture.value;
  const hands = picture.hands.filter(({ place }) => place === number);
  const own = felt.ownPlaces.value.has(number) || felt.slip.allBets.value.has(String(number));
  const turn = useTurnOf(felt, number);
  if (!at) return null;
  const room = (width / places.length) * 0.97;
  const cardWidth = handCardWidth(
    card,
    room,
    hands.map((hand) => hand.cards.length),
  );
  return (
    <li
      class={`felt-place${own ? " own" : ""}${turn ? " deciding" : ""}`}
      style={{ left: `${at.x}px`, top: `${at.y}px`, "--circle": `${circle}px` }}
      data-testid={`place-${number}`}
      data-own={own}
    >
      {hands.length > 0 && !(enlarged && felt.ownPlaces.value.has(number)) && (
        <div class={cardWidth < 30 ? "place-hands small" : "place-hands"}>
          {hands.map((hand) => (
            <PlayerHand key={hand.number} felt={felt} hand={hand} width={cardWidth} several={hands.length > 1} />
          ))}
        </div>
      )}
      <PlaceCircle felt={felt} number={number} radius={circle} own={own} />
      {turn && <TurnRing radius={circle + 5} share={turn.share} own={own} />}
    </li>
  );
}

/** Whether the place decides now, and how much of its time is left. */
function useTurnOf(felt: BlackjackFelt, number: number): { share: number } | null {
  const { playing, offers } = felt.cards.picture.value;
  const deciding =
    felt.stage.value === "playing" &&
    (playing ? playing.place === number : offers.some(({ place, open }) => place === number && open));
  const counts = deciding && !felt.table.individual.value;
  const now = useServerNow(counts ? 100 : 0);
  if (!deciding) return null;
  return { share: counts ? turnTime(felt.table, now).share : 1 };
}

function PlaceCircle({
  felt,
  number,
  radius,
  own,
}: {
  felt: BlackjackFelt;
  number: number;
  radius: number;
  own: boolean;
}) {
  const words = blackjackWords();
  const mode = felt.table.mode.value;
  const other = felt.otherBets.value.get(number);
  const pending = felt.slip.pending.value.get(String(number)) ?? 0;
  const staked = useStaked(felt, number) + pending;
  const bettable = felt.bettable.value && !other;
  const result = useResult(felt, number);
  const net = result && result.payout_cents - result.staked_cents;
  // Losing chips are collected, and winning ones paid.
  const lies = result ? result.payout_cents : staked;
  const label = own ? words.placeOwn : words.placeOther;
  const name = staked ? label(number, amount(staked, mode)) : words.placeFree(number);
  const content = (
    <span class="place-number figures" aria-hidden="true">
      {number}
    </span>
  );
  return (
    <>
      {bettable ? (
        <button
          type="button"
          class="place-circle"
          aria-label={name}
          title={words.placeHint(number, amount(felt.chosenChip.value.value, mode))}
          data-testid={`circle-${number}`}
          data-cents={staked}
          data-pending={pending > 0}
          onClick={() => felt.placeChip(number)}
          onKeyDown={(event) => {
            if (event.key === "Delete") felt.takeBackFrom(number);
          }}
        >
          {content}
        </button>
      ) : (
        <div
          class="place-circle"
          role="img"
          aria-label={name}
          data-testid={`circle-${number}`}
          data-cents={staked}
          data-pending={pending > 0}
        >
          {content}
        </div>
      )}
      {/* Beside the button, whose name says the amount: the chips' own values are no part of it. */}
      {lies > 0 && (
        <div class="place-chips">
          <ChipPile felt={felt} value={lies} size={radius * 1.35} pending={pending > 0} />
        </div>
      )}
      {net !== null && (
        <span class={`place-paid figures ${net > 0 ? "won" : net < 0 ? "lost" : ""}`} data-testid={`paid-${number}`}>
          {signedAmount(net, mode, shortAmount)}
        </span>
      )}
      {own && <span class="place-you">{words.you}</span>}
    </>
  );
}

/** What lies on the place: the bet, or all money on its hands once they are dealt. */
function useStaked(felt: BlackjackFelt, number: number): Cents {
  const hands = felt.cards.picture.value.hands.filter(({ place }) => place === number);
  // The cards of the last round may still lie while the next one takes bets.
  if (hands.length && !felt.slip.round.value) return hands.reduce((all, hand) => all + cents(hand.staked_cents), 0);
  const other = felt.otherBets.value.get(number)?.cents ?? 0;
  const own = felt.slip.round.value ? felt.slip.accepted.value : felt.countedBets.value;
  return other + (own.get(String(number)) ?? 0);
}

/** What the round brought the place, once it may be shown. */
function useResult(felt: BlackjackFelt, number: number): { staked_cents: Cents; payout_cents: Cents } | null {
  const result = felt.stage.value === "result" ? felt.result.value : null;
  const place = result && placesResult(result.outcome, new Set([number]));
  return place?.staked_cents ? place : null;
}
