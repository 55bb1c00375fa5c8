// One seat: a plate with its cave in chips and euros, and above it its cards.
import type { RefObject } from "preact";
import { SHOWN, type TableGeometry } from "../layout/geometry";
import type { SeatPicture } from "../round/picture";
import { tableAmount } from "../words/amounts";
import { combinationText } from "../words/combinations";
import { seatText } from "../words/seat_text";
import { pokerWords } from "../words/table_words";
import { ChipPile } from "./chip_pile";
import { markedCards, type Scene } from "./scene";
import { SeatCards } from "./seat_cards";
import { PlateRing } from "./turn_ring";
import "./seat.css";

interface Props {
  scene: Scene;
  geometry: TableGeometry;
  seat: SeatPicture;
  dealer: RefObject<HTMLElement>;
}

export function Seat({ scene, geometry, seat, dealer }: Props) {
  const { own, picture, mode } = scene;
  const words = pokerWords();
  const spot = geometry.seats[seat.seat - 1];
  if (!spot) return null;
  const isOwn = seat.seat === own;
  const deciding = scene.deciding === seat.seat;
  const won = scene.compared === true && picture.prizes.some((prize) => prize.seat === seat.seat);
  const absent = seat.taken && !seat.dealt && seat.standing !== "CAVE_STANDING_PLAYING";
  const shown = seat.cards.some((card) => card !== "");
  const states = [isOwn && "own", deciding && "deciding", won && "won", seat.folded && "folded", absent && "absent"];
  if (spot.plate.x < geometry.width / 2 - 1) states.push("left");
  const cardWidth = isOwn
    ? geometry.ownCard
    : shown
      ? Math.min(geometry.card * SHOWN, geometry.boardCard)
      : geometry.card;
  return (
    <li
      class={`poker-seat ${states.filter(Boolean).join(" ")}`}
      style={{ left: `${spot.plate.x}px`, top: `${spot.plate.y}px`, ...plateSize(geometry) }}
      data-testid={`seat-${seat.seat}`}
      data-standing={seat.standing}
      data-cents={seat.cave_cents}
      data-cards={seat.cards.filter(Boolean).join(" ")}
    >
      <span class="unseen">{seatText(seat, { own: isOwn, deciding, picture, mode })}</span>
      {seat.taken ? (
        <>
          {seat.dealt && !(seat.folded && !isOwn) && (
            <div class={shown ? "poker-seat-cards shown" : "poker-seat-cards"}>
              <SeatCards
                cards={seat.cards}
                width={cardWidth}
                dealt={seat.cards.map((_, at) => scene.dealt?.get(`${seat.seat}.${at}`))}
                from={dealer}
                marked={markedCards(scene)}
                fanned={!isOwn || scene.personal > 2}
              />
              {won && seat.best.length > 0 && (
                <span class="poker-combination">{combinationText(seat.combination, seat.best)}</span>
              )}
            </div>
          )}
          <Plate scene={scene} seat={seat} geometry={geometry} isOwn={isOwn} />
          {deciding && scene.turn && (
            <div class="poker-plate-time" aria-hidden="true">
              <PlateRing turn={scene.turn} decision_ms={scene.decision_ms ?? 0} {...geometry.plate} />
            </div>
          )}
        </>
      ) : (
        <div class="poker-plate free" aria-hidden="true">
          <span class="plate-name">{words.seat(seat.seat)}</span>
          <span class="plate-state">{words.free}</span>
        </div>
      )}
    </li>
  );
}

interface PlateProps {
  scene: Scene;
  seat: SeatPicture;
  geometry: TableGeometry;
  isOwn: boolean;
}

function Plate({ scene, seat, geometry, isOwn }: PlateProps) {
  const words = pokerWords();
  const { picture, mode, least } = scene;
  const said = seat.all_in && !seat.folded ? words.allInSign : actionText(seat);
  // Who is away and dealt in all the same is marked throughout the hand (810/2015:26).
  const away = mode === "CHIPS" && seat.standing === "CAVE_STANDING_AWAY" ? words.standings[seat.standing] : "";
  const state = seat.disconnected ? words.disconnected : away || said || words.standings[seat.standing];
  return (
    <div class="poker-plate" aria-hidden="true">
      <span class="plate-top">
        <span class="plate-name figures">{isOwn ? words.you : state ? seat.seat : words.seat(seat.seat)}</span>
        {state && (
          <span class="plate-state" data-said={seat.all_in ? "ALL_IN" : (seat.said ?? "")}>
            {state}
          </span>
        )}
      </span>
      <span class="plate-cave figures">
        {seat.cave_cents > 0 && (
          <ChipPile value={seat.cave_cents} least={least} unit={mode} size={geometry.chip * 0.72} />
        )}
        <span class="plate-amount">{tableAmount(seat.cave_cents, mode)}</span>
      </span>
      {picture.small_blind === seat.seat && <Blind sign={words.smallBlindSign} name={words.smallBlind} />}
      {picture.big_blind === seat.seat && <Blind sign={words.bigBlindSign} name={words.bigBlind} />}
    </div>
  );
}

/** A blind has its marker, and needs no words. */
function actionText({ said }: SeatPicture): string {
  return said && said !== "SMALL_BLIND" && said !== "BIG_BLIND" ? pokerWords().said[said] : "";
}

function Blind({ sign, name }: { sign: string; name: string }) {
  return (
    <span class="plate-blind" title={name} data-testid={`marker-${sign}`}>
      {sign}
    </span>
  );
}

function plateSize({ plate }: TableGeometry): Record<string, string> {
  return { "--plate-width": `${plate.width}px`, "--plate-height": `${plate.height}px` };
}
