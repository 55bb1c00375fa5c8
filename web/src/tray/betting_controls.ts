// What the tray and the keyboard do at a felt, whatever the game: choose a chip, repeat, double, start the round.
import { type ReadonlySignal, signal } from "@preact/signals";
import type { BetSlip } from "../bets/bet_slip";
import { after } from "../browser/after";
import { readStored, writeStored } from "../browser/storage";
import { chipPlacedSound } from "../chips/chip_sounds";
import type { Chip } from "../chips/chips";
import { BettingNotice } from "./betting_notice";

export abstract class BettingControls {
  abstract readonly slip: BetSlip;
  abstract readonly bettable: ReadonlySignal<boolean>;
  readonly chosenChip = signal<Chip>({ value: 0, colour: 0 });
  /** The notice to the player. */
  readonly notice = new BettingNotice(after);

  /** The chip that was chosen last, at whichever table, is chosen again. */
  constructor(readonly chips: readonly Chip[]) {
    const remembered = chips.find(({ colour }) => String(colour) === readStored("chip"));
    this.chosenChip.value = remembered ?? chips[0] ?? this.chosenChip.value;
  }

  choose(chip: Chip): void {
    this.notice.close();
    this.chosenChip.value = chip;
    writeStored("chip", String(chip.colour));
  }

  repeat(): void {
    if (this.continueBetting()) this.slip.repeat();
  }

  double(): void {
    if (this.continueBetting() && this.slip.double()) chipPlacedSound();
  }

  start(): void {
    if (this.continueBetting()) void this.slip.start();
  }

  showNotice(text: string): void {
    this.notice.show(text, false);
  }

  /** False while bets are not taken. */
  protected continueBetting(): boolean {
    if (!this.bettable.value) return false;
    this.endShowing();
    // A notice about an earlier click is obsolete.
    this.notice.close();
    return true;
  }

  /** Ends the showing of a result, where that is in the way of bets. */
  protected endShowing(): void {}
}
