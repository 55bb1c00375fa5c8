// A blackjack table for the lobby: a corner of the felt with an ace and a king.
import { PlayingCard } from "../../../cards/playing_card";
import "./lobby_picture.css";

export function LobbyPicture() {
  return (
    <div class="lobby-blackjack" aria-hidden="true">
      <span class="lobby-ace">
        <PlayingCard silent name="As" />
      </span>
      <span class="lobby-king">
        <PlayingCard silent name="Kh" />
      </span>
    </div>
  );
}
