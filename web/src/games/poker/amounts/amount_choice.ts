// An amount that is being chosen: what is typed, whether it can be taken, and where the slider stands.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { language } from "../../../words/language";
import type { Cents } from "../../../words/money";
import { amountAt, clamp, stepOf, stopAt, stopCount } from "./amount_steps";
import { type Hundredths, type Range, readAmount, type TypedAmount } from "./typed_amount";

export class AmountChoice {
  /** What stands in the field. */
  readonly text = signal("");
  readonly typed: ReadonlySignal<TypedAmount>;
  /** The amount, where it can be taken. */
  readonly cents: ReadonlySignal<Cents | null>;
  readonly step_cents: Cents;
  readonly stops: number;
  readonly stop: ReadonlySignal<number>;
  /** The last amount that could be taken: the slider stays there while something else is typed. */
  private readonly last: { cents: Cents };

  constructor(
    readonly range: Range,
    step_cents: Cents,
    first_cents: Cents,
    private readonly hundredths: Hundredths = 100,
  ) {
    this.step_cents = stepOf(range, step_cents);
    this.stops = stopCount(range, this.step_cents);
    this.last = { cents: clamp(first_cents, range) };
    this.set(first_cents);
    this.typed = computed(() => readAmount(this.text.value, language.value, range, hundredths));
    this.cents = computed(() => this.typed.value.cents);
    this.stop = computed(() => {
      const cents = this.cents.value;
      if (cents !== null) this.last.cents = cents;
      return stopAt(range, this.step_cents, this.last.cents);
    });
  }

  /** Chooses an amount, or the nearest one that is possible. */
  set(cents: Cents): void {
    // Without separators between thousands, so that it can be read in both languages.
    this.text.value = plainText(clamp(cents, this.range), this.hundredths);
  }

  setStop(stop: number): void {
    this.set(amountAt(this.range, this.step_cents, stop));
  }

  /** One step up or down from the amount, or from the last one that could be taken. */
  move(steps: number): void {
    this.set((this.cents.peek() ?? this.last.cents) + steps * this.step_cents);
  }
}

/** As the player would type it: `1234,50`; of chips `1234`. */
function plainText(cents: Cents, hundredths: Hundredths): string {
  if (hundredths === 1) return String(cents);
  const fraction = cents % 100;
  if (!fraction) return String(cents / 100);
  return `${Math.floor(cents / 100)}${language.peek() === "pt" ? "," : "."}${String(fraction).padStart(2, "0")}`;
}
