// The oval table: the felt, its seats, common cards, pots, bets and the button (806/2015:4).
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { useElementSize } from "../../../browser/element_size";
import { type TableGeometry, tableGeometry } from "../layout/geometry";
import { ResultPlaque } from "../result/result_plaque";
import { ChipPile } from "../seats/chip_pile";
import type { Scene } from "../seats/scene";
import { Seat } from "../seats/seat";
import { tableAmount } from "../words/amounts";
import { pokerWords } from "../words/table_words";
import { Board } from "./board";
import { FeltShape } from "./felt_shape";
import { MovingChips } from "./moving_chips";
import { Pots } from "./pots";
import "../layout/colours.css";
import "./oval_table.css";

interface Props {
  scene: Scene;
  /** The player's combination in words, while the hand goes on. */
  ownHand?: string;
  /** What is written on the cloth. */
  inscription?: string;
}

export function OvalTable({ scene, ownHand = "", inscription = "" }: Props) {
  const room = useRef<HTMLDivElement>(null);
  const size = useElementSize(room);
  return (
    <section class="poker-oval" aria-label={pokerWords().table}>
      <div ref={room} class="poker-room">
        {size && size.height > 0 && (
          <Laid
            scene={scene}
            ownHand={ownHand}
            inscription={inscription}
            geometry={tableGeometry(
              size.width,
              size.height,
              scene.picture.seats.length,
              scene.own ?? 0,
              scene.personal,
            )}
          />
        )}
      </div>
    </section>
  );
}

type LaidProps = Required<Props> & { geometry: TableGeometry };

function Laid({ scene, geometry, ownHand, inscription }: LaidProps) {
  const { picture, own } = scene;
  const dealer: RefObject<HTMLDivElement> = useRef(null);
  const { x, y } = geometry.pots;
  return (
    <>
      <FeltShape geometry={geometry} inscription={scene.compared ? "" : inscription} />
      <div ref={dealer} class="poker-dealer" style={{ left: `${x}px`, top: `${y}px` }} aria-hidden="true" />
      <Pots scene={scene} geometry={geometry} />
      <Board scene={scene} geometry={geometry} dealer={dealer} />
      <Bets scene={scene} geometry={geometry} />
      <Button scene={scene} geometry={geometry} />
      <ol class="poker-seats" aria-label={pokerWords().seats}>
        {picture.seats.map((seat) => (
          <Seat key={seat.seat} scene={scene} geometry={geometry} seat={seat} dealer={dealer} />
        ))}
      </ol>
      <MovingChips scene={scene} geometry={geometry} />
      {ownHand && !scene.compared && <OwnHand geometry={geometry} own={own} text={ownHand} />}
      {scene.compared && <ResultPlaque scene={scene} geometry={geometry} />}
    </>
  );
}

/** What each player has bet in this betting round. */
function Bets({ scene, geometry }: { scene: Scene; geometry: TableGeometry }) {
  const { picture, mode, least } = scene;
  return (
    <div aria-hidden="true">
      {picture.seats
        .filter(({ bet_cents }) => bet_cents > 0)
        .map(({ seat, bet_cents }) => {
          const at = geometry.seats[seat - 1]?.bet;
          return (
            at && (
              <div
                key={seat}
                class={geometry.upright ? "poker-bet flat figures" : "poker-bet figures"}
                style={{ left: `${at.x}px`, top: `${at.y}px` }}
                data-testid={`bet-${seat}`}
                data-cents={bet_cents}
              >
                <ChipPile value={bet_cents} least={least} unit={mode} size={geometry.chip} />
                <span>{tableAmount(bet_cents, mode)}</span>
              </div>
            )
          );
        })}
    </div>
  );
}

/** The mark of the player who has the dealer position (806/2015:47). It moves from one seat to the next. */
function Button({ scene, geometry }: { scene: Scene; geometry: TableGeometry }) {
  const words = pokerWords();
  const at = geometry.seats[scene.picture.button - 1]?.marker;
  if (!at) return null;
  return (
    <span
      class="poker-button"
      style={{ left: `${at.x}px`, top: `${at.y}px` }}
      title={words.button}
      data-testid="button"
      data-seat={scene.picture.button}
      aria-hidden="true"
    >
      {words.buttonSign}
    </span>
  );
}

function OwnHand({ geometry, own, text }: { geometry: TableGeometry; own: number | undefined; text: string }) {
  const at = geometry.seats[(own ?? 0) - 1]?.plate;
  if (!at) return null;
  return (
    <p
      class="poker-own-hand"
      style={{ left: `${at.x}px`, top: `${at.y - geometry.plate.height / 2 - 12}px` }}
      data-testid="own-hand"
    >
      <span class="unseen">{pokerWords().yourHand}: </span>
      {text}
    </p>
  );
}
