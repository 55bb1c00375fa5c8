// The lines and words on the cloth, and what is insured.

import { amount, cents, shortAmount } from "../../../words/money";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import { insuranceSpot, showsRules, type TableGeometry } from "../layout/geometry";
import { blackjackWords } from "../words/table_words";
import { ChipPile } from "./chip_pile";

export function FeltLines({ geometry }: { geometry: TableGeometry }) {
  const words = blackjackWords();
  const { width, height, band } = geometry;
  const { from, over, to, thickness } = band;
  const curve = (dy: number) => `M${from.x} ${from.y + dy}Q${over.x} ${over.y + dy} ${to.x} ${to.y + dy}`;
  const [top, bottom] = [-thickness / 2, thickness / 2];
  const back = `L${to.x} ${to.y + bottom}Q${over.x} ${over.y + bottom} ${from.x} ${from.y + bottom}Z`;
  const outline = `${curve(top)}${back}`;
  const letters = thickness * 0.52;
  return (
    <svg class="felt-lines" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <path id="felt-insurance" d={curve(letters * 0.36)} fill="none" />
      <path id="felt-rule" d={curve(thickness * 1.35)} fill="none" />
      <path class="felt-band" d={outline} />
      <text class="felt-insurance" font-size={letters}>
        <textPath href="#felt-insurance" startOffset="50%">
          {words.insuranceArea}
        </textPath>
      </text>
      {showsRules(height) && (
        <text class="felt-rule" font-size={Math.max(10.5, letters * 0.82)}>
          <textPath href="#felt-rule" startOffset="50%">
            {width > 620 ? `${words.blackjackPays}  ·  ${words.bankDraws}` : words.blackjackPays}
          </textPath>
        </text>
      )}
    </svg>
  );
}

/** The amounts in the insurance area, each above its place. */
export function InsuranceChips({ felt, geometry }: { felt: BlackjackFelt; geometry: TableGeometry }) {
  const mode = felt.table.mode.value;
  return (
    <>
      {felt.cards.picture.value.offers
        .filter(({ insurance_cents }) => cents(insurance_cents) > 0)
        .map(({ place, insurance_cents }) => {
          const at = insuranceSpot(geometry, place);
          const value = cents(insurance_cents);
          return (
            <div
              key={place}
              class="felt-insured"
              role="img"
              aria-label={blackjackWords().insured(place, amount(value, mode))}
              style={{ left: `${at.x}px`, top: `${at.y}px` }}
              data-testid={`insured-${place}`}
              data-cents={value}
            >
              <ChipPile felt={felt} value={value} size={geometry.band.thickness * 1.05} />
              <span class="felt-amount figures">{shortAmount(value)}</span>
            </div>
          );
        })}
    </>
  );
}
