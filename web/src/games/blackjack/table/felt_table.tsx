// The semicircular felt: the bank and the shoe at its straight side, places with circles along its curve, the insurance area
// between them (805/2015:4.a).
import { useRef } from "preact/hooks";
import { useElementSize } from "../../../browser/element_size";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import { BankCards } from "../hands/bank_cards";
import { OwnHands } from "../hands/own_hands";
import { type CardPoints, CardPointsContext } from "../layout/card_points";
import { type TableGeometry, tableGeometry } from "../layout/geometry";
import { ResultPlaque } from "../result/result_plaque";
import { blackjackWords } from "../words/table_words";
import { FeltLines, InsuranceChips } from "./felt_lines";
import { Place } from "./place";
import { Discards, Shoe } from "./shoe";
import "./felt_table.css";

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
  return (
    <>
      <FeltLines geometry={geometry} />
      <Discards geometry={geometry} place={points.discards} />
      <Shoe geometry={geometry} place={points.shoe} />
      <BankCards felt={felt} geometry={geometry} />
      <InsuranceChips felt={felt} geometry={geometry} />
      <ol class="felt-places">
        {geometry.places.map((_, index) => (
          <Place key={index} felt={felt} geometry={geometry} number={index + 1} />
        ))}
      </ol>
      <OwnHands felt={felt} geometry={geometry} />
      <ResultPlaque felt={felt} at={geometry.plaque} />
    </>
  );
}
