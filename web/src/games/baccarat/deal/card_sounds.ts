// The sounds of cards.
import { playSound } from "../../../sound/sound";
import { knock } from "../../../sound/synthesis";

/** A card slides over the cloth. */
export function cardDealtSound(): void {
  playSound((speaker, at) => {
    knock(speaker, { at, volume: 0.1, pitch: 4200, rings: 0.02 });
    knock(speaker, { at: at + 0.03, volume: 0.08, pitch: 3400, rings: 0.03 });
  });
}

/** A card is turned and laid down. */
export function cardTurnedSound(): void {
  playSound((speaker, at) => knock(speaker, { at, volume: 0.22, pitch: 1900, rings: 0.04 }));
}
