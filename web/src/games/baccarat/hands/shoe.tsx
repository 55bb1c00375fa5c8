// The shoe from which the cards are dealt.
import { baccaratWords } from "../words/table_words";

export function Shoe({ packs }: { packs: number }) {
  return (
    <svg
      class="deal-shoe"
      viewBox="0 0 120 92"
      role="img"
      aria-label={`${baccaratWords().shoe}: ${baccaratWords().packs(packs)}`}
    >
      <path class="deal-shoe-side" d="M14 30L70 8L112 24V58L58 84L14 66Z" />
      <path class="deal-shoe-top" d="M14 30L70 8L112 24L58 46Z" />
      <path class="deal-shoe-front" d="M14 30L58 46V84L14 66Z" />
      {[0, 1, 2, 3, 4].map((n) => (
        <path key={n} class="deal-shoe-cards" d={`M${30 + 9 * n} ${28.5 - 3.5 * n}L${66 + 9 * n} ${41 - 3.5 * n}`} />
      ))}
      <path class="deal-shoe-card" d="M18 41L54 54V80L18 65.500Z" />
      <path class="deal-shoe-lip" d="M14 60L58 78V84L14 66Z" />
    </svg>
  );
}
