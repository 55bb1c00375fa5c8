// A natural nine for the lobby: two cards on a cloth.
import { CardFace } from "../../../cards/card_face";
import "../../../cards/playing_card.css";
import "./lobby_picture.css";

export function LobbyPicture() {
  return (
    <div class="lobby-baccarat" aria-hidden="true">
      <span class="lobby-card">
        <CardFace card={{ rank: "9", suit: "d" }} />
      </span>
      <span class="lobby-card">
        <CardFace card={{ rank: "K", suit: "s" }} />
      </span>
    </div>
  );
}
