// Who wins which pot, and with what (806/2015:61).
import type { TableGeometry } from "../layout/geometry";
import type { Scene } from "../seats/scene";
import { tableAmount } from "../words/amounts";
import { combinationText } from "../words/combinations";
import { pokerWords, potName } from "../words/table_words";
import "./result_plaque.css";

// With more seats, plates lie to the right and left of the plaque on a phone.
const MANY_SEATS = 6;

export function ResultPlaque({ scene, geometry }: { scene: Scene; geometry: TableGeometry }) {
  const { picture, own, mode, marked } = scene;
  const words = pokerWords();
  const pots = new Set(picture.prizes.map(({ pot }) => pot)).size;
  const { board, boardCard, upright, width, plate, seats } = geometry;
  const style = {
    left: `${board.x}px`,
    top: `${board.y + boardCard * 0.7 + 10}px`,
    maxWidth: `${upright ? width - plate.width * (seats.length > MANY_SEATS ? 2.1 : 1.3) : width * 0.44}px`,
  };
  return (
    <ul class="poker-result" style={style} aria-label={words.result} data-testid="result">
      {picture.prizes.map(({ pot, seat, net_cents }) => {
        const winner = picture.seats.find((each) => each.seat === seat);
        const hand = winner ? combinationText(winner.combination, winner.best) : "";
        const sum = tableAmount(net_cents, mode);
        return (
          <li key={`${pot}.${seat}`} class={marked === seat ? "shown" : ""} data-seat={seat} data-cents={net_cents}>
            <strong class="figures">{seat === own ? words.youWin(sum) : words.wins(seat, sum)}</strong>
            {pots > 1 && <span class="poker-result-pot">{potName(pot, pots)}</span>}
            {hand && <span>{hand}</span>}
          </li>
        );
      })}
      {picture.commission_cents > 0 && (
        <li class="poker-result-commission figures">{words.commission(tableAmount(picture.commission_cents, mode))}</li>
      )}
    </ul>
  );
}
