// The sounds of cards.
import { playSound } from "../../../sound/sound";
import { knock } from "../../../sound/synthesis";

/** A card slides over the felt and lies. */
export function cardSound(): void {
  playSound((speaker, at) => {
    knock(speaker, { at, volume: 0.12, pitch: 5200, rings: 0.07 });
    knock(speaker, { at: at + 0.08, volume: 0.16, pitch: 1900, rings: 0.05 });
  });
}
