// The player's own hands, large, where the places are too small for cards that can be read.

import type { BlackjackFelt } from "../felt/blackjack_felt";
import type { OwnLane } from "../layout/own_lane";
import { PlayerHand } from "./player_hand";

interface Props {
  felt: BlackjackFelt;
  lane: OwnLane;
}

export function OwnHands({ felt, lane }: Props) {
  const own = felt.ownPlaces.value;
  const hands = felt.cards.picture.value.hands.filter(({ place }) => own.has(place));
  return (
    <div
      class={`felt-own${hands.length > 1 ? " several" : ""}`}
      style={{ left: `${lane.at.x}px`, top: `${lane.at.y}px`, width: `${lane.width}px` }}
    >
      {hands.map((hand) => (
        <PlayerHand
          key={`${hand.place}.${hand.number}`}
          felt={felt}
          hand={hand}
          width={lane.card}
          several={hands.length > 1}
        />
      ))}
    </div>
  );
}
