// Starts the page.
import { render } from "preact";
import "./design/tokens.css";
import "./design/base.css";
import { startPlatform } from "./api/platform";
import { App } from "./app/app";
import { fetchGames, registerGames } from "./game_interface/registered_games";
import { GAMES } from "./games";

registerGames(GAMES);
const place = document.getElementById("app");
if (place) render(<App />, place);
// Games are fetched while the platform is asked who plays.
fetchGames();
void startPlatform();
