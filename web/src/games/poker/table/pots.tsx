// The pots by their names: the main pot and the side pots (806/2015:41), each with what lies in it.
import type { TableGeometry } from "../layout/geometry";
import { ChipPile } from "../seats/chip_pile";
import type { Scene } from "../seats/scene";
import { tableAmount } from "../words/amounts";
import { pokerWords, potName } from "../words/table_words";

export function Pots({ scene, geometry }: { scene: Scene; geometry: TableGeometry }) {
  const { picture, mode, least } = scene;
  const words = pokerWords();
  const { pots, total_cents } = picture;
  const collected = pots.reduce((all, { cents }) => all + cents, 0);
  const { x, y } = geometry.pots;
  return (
    <div class="poker-pots" style={{ left: `${x}px`, top: `${y}px` }}>
      <ul aria-label={words.pots}>
        {pots.map(({ cents, seats }, pot) => (
          <li
            key={pot}
            class="poker-pot figures"
            data-testid={`pot-${pot}`}
            data-cents={cents}
            data-seats={seats.join()}
          >
            <ChipPile value={cents} least={least} unit={mode} size={geometry.chip * 0.8} />
            <span>
              <span class="poker-pot-name">{potName(pot, pots.length)}</span>{" "}
              <strong>{tableAmount(cents, mode)}</strong>
            </span>
          </li>
        ))}
      </ul>
      {pots.length === 0 && total_cents > 0 && (
        <p class="poker-pot figures" data-testid="total" data-cents={total_cents}>
          <span>
            <span class="poker-pot-name">{words.pot}</span> <strong>{tableAmount(total_cents, mode)}</strong>
          </span>
        </p>
      )}
      {pots.length > 0 && total_cents > collected && (
        <p class="poker-total figures" data-testid="total" data-cents={total_cents}>
          {words.total(tableAmount(total_cents, mode))}
        </p>
      )}
    </div>
  );
}
