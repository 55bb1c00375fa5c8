// The sounds that go with the croupier's calls.
import { playSound } from "../sound/sound";
import { chime, knock } from "../sound/synthesis";

/** Short and modest, for a payout above the stake only. */
export function prizeSound(): void {
  playSound((speaker, at) => {
    chime(speaker, 659.3, at, 0.5, 0.1);
    chime(speaker, 880, at + 0.11, 0.7, 0.1);
  });
}

/** «Jogo feito, nada mais». */
export function noMoreBetsSound(): void {
  playSound((speaker, at) => {
    knock(speaker, { at, volume: 0.5, pitch: 880, rings: 0.12 });
    knock(speaker, { at: at + 0.16, volume: 0.5, pitch: 700, rings: 0.16 });
  });
}

/** One of the last seconds. */
export function lastSecondSound(): void {
  playSound((speaker, at) => knock(speaker, { at, volume: 0.25, pitch: 1500, rings: 0.05 }));
}
