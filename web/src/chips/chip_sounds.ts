// The sounds of chips.
import { playSound } from "../sound/sound";
import { knock } from "../sound/synthesis";

export function chipPlacedSound(): void {
  playSound((speaker, at) => {
    knock(speaker, { at, volume: 0.4, pitch: 3100, rings: 0.04 });
    knock(speaker, { at: at + 0.028, volume: 0.16, pitch: 3700, rings: 0.03 });
  });
}

/** The losing chips are raked in. */
export function chipsCollectedSound(): void {
  playSound((speaker, begin) => {
    let at = begin;
    for (let left = 9; left > 0; left -= 1) {
      knock(speaker, { at, volume: 0.1 + 0.16 * Math.random(), pitch: 2600 + 1500 * Math.random(), rings: 0.035 });
      at += 0.03 + 0.05 * Math.random();
    }
  });
}
