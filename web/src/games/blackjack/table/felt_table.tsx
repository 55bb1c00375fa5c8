// The semicircular felt: the bank and the shoe at its straight side, places with circles along its curve, the insurance area
// between them (805/2015:4.a).
import { useRef } from "preact/hooks";
import { useElementSize } from "../../../browser/element_size";
import { cents } from "../../../words/money";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import { BankCards } from "../hands/bank_cards";
import { OwnHands } from "../hands/own_hands";
import { type CardPoints, CardPointsContext } from "../layout/card_points";
import { type TableGeometry, tableGeometry } from "../layout/geometry";
import { isUpright, type OwnLane, ownLane } from "../layout/own_lane";
import { ResultPlaque } from "../result/result_plaque";
import { blackjackWords } from "../words/table_words";
import { FeltLines, InsuranceChips } from "./felt_lines";
import { Place } from "./place";
import { Discards, Shoe } from "./shoe";
import "./felt_table.css";

// How far below the felt the plaque's middle lies there.
const RIM = 14;

export function FeltTable({ felt }: { felt: BlackjackFelt }) {
  const room = useRef<HTMLDivElement>(null);
  const size = useElementSize(room);
  const points: CardPoints = { shoe: useRef(null), discards: useRef(null) };
  const places = felt.rules.places || 1;
  return (
    <section class="blackjack-felt" aria-label={blackjackWords().table}>
      <div ref={room} class="felt-room">
        {size && (
          <CardPointsContext.Provider value={points}>
            <Laid felt={felt} geometry={tableGeometry(size.width, size.height, places)} points={points} />
          </CardPointsContext.Provider>
        )}
      </div>
    </section>
  );
}

function Laid({ felt, geometry, points }: { felt: BlackjackFelt; geometry: TableGeometry; points: CardPoints }) {
  const lane = useOwnLane(felt, geometry);
  // Over the rim, where no circle lies, if there are cards in the plaque's place.
  const crowded = geometry.smallCards && isUpright(geometry) && lane?.overBand !== false;
  const plaque = crowded ? { x: geometry.width / 2, y: geometry.height + RIM } : geometry.plaque;
  return (
    <>
      <FeltLines geometry={geometry} />
      <Discards geometry={geometry} place={points.discards} />
      <Shoe geometry={geometry} place={points.shoe} />
      <BankCards felt={felt} geometry={geometry} />
      <InsuranceChips felt={felt} geometry={geometry} />
      <ol class="felt-places">
        {geometry.places.map((_, index) => (
          <Place key={index} felt={felt} geometry={geometry} number={index + 1} enlarged={lane !== null} />
        ))}
      </ol>
      {lane && <OwnHands felt={felt} lane={lane} />}
      <ResultPlaque felt={felt} at={plaque} />
    </>
  );
}

/** Where the player's own hands lie, if not at their places. */
function useOwnLane(felt: BlackjackFelt, geometry: TableGeometry): OwnLane | null {
  const { hands, offers } = felt.cards.picture.value;
  const own = felt.ownPlaces.value;
  return ownLane(
    geometry,
    hands.filter(({ place }) => own.has(place)).map(({ cards }) => cards.length),
    {
      others: new Set(hands.filter(({ place }) => !own.has(place)).map(({ place }) => place)),
      insured: new Set(offers.filter(({ insurance_cents }) => cents(insurance_cents) > 0).map(({ place }) => place)),
    },
  );
}
