// Refusals that roulette words in its own way; for all others the frame's words hold.
import { dictionary } from "../../../words/language";

export const rouletteRefusals = dictionary<Readonly<Record<string, string>>>(
  { NOTHING_STAKED: "Faça primeiro uma aposta e lance depois a bola." },
  { NOTHING_STAKED: "Place a bet first, then launch the ball." },
);
