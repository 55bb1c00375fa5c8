// The player's own hands, large, where the places are too small for cards that can be read.

import type { BlackjackFelt } from "../felt/blackjack_felt";
import { overlap, type TableGeometry } from "../layout/geometry";
import { PlayerHand } from "./player_hand";

export function OwnHands({ felt, geometry }: { felt: BlackjackFelt; geometry: TableGeometry }) {
  const own = felt.ownPlaces.value;
  const hands = felt.cards.picture.value.hands.filter(({ place }) => own.has(place));
  const { ownHands, width } = geometry;
  if (!ownHands || hands.length === 0) return null;
  const widths = hands.reduce(
    (all, { cards }) => all + 1.25 + overlap(cards.length) * Math.max(1, cards.length - 1),
    0,
  );
  const card = Math.max(26, Math.min(ownHands.card, (width * 0.94) / widths));
  return (
    <div class="felt-own" style={{ left: `${ownHands.at.x}px`, top: `${ownHands.at.y}px` }}>
      {hands.map((hand) => (
        <PlayerHand
          key={`${hand.place}.${hand.number}`}
          felt={felt}
          hand={hand}
          width={card}
          several={hands.length > 1}
        />
      ))}
    </div>
  );
}
