// A poker table for the lobby: an oval with five common cards and a hand.
import { PlayingCard } from "../../../cards/playing_card";
import "./lobby_picture.css";

const COMMON = ["Ts", "Js", "Qs", "2d", "7h"];

export function LobbyPicture() {
  return (
    <div class="lobby-poker" aria-hidden="true">
      <span class="lobby-poker-board">
        {COMMON.map((card) => (
          <PlayingCard key={card} silent name={card} />
        ))}
      </span>
      <span class="lobby-poker-hand">
        <PlayingCard silent name="As" />
        <PlayingCard silent name="Ks" />
      </span>
    </div>
  );
}
