// The games of this front-end. A new game is a folder below `games/` and a line here; nothing else names one.
import type { GameEntry } from "./game_interface/game";
import { baccarat } from "./games/baccarat/entry";
import { blackjack } from "./games/blackjack/entry";
import { poker } from "./games/poker/entry";
import { roulette } from "./games/roulette/entry";

export const GAMES: Readonly<Record<string, GameEntry>> = { roulette, blackjack, baccarat, poker };
