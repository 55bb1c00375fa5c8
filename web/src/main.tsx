// Where the page begins.
import { render } from "preact";
import "./design/tokens.css";
import "./design/base.css";
import { begin } from "./api/platform";
import { App } from "./app";
import { fetchGames } from "./loaded_games";

const place = document.getElementById("app");
if (place) render(<App />, place);
// On its way while the platform is asked who plays.
fetchGames();
void begin();
