// Whether anybody is still there at the far end of an open line: a network may be gone without a word.

/** While an answer is due and nothing is heard, it is asked after so long whether anybody hears. */
export const ASKS_AFTER_MS = 1500;
/** Where no answer is due there may be nothing to say; so often it is asked all the same. */
export const ASKS_QUIET_MS = 10_000;
/** Whoever is there has said something by then, be it only the time. */
export const SAYS_WITHIN_MS = 2500;

export class Silence {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = false;
  private asked = false;

  constructor(
    /** Ask something that is answered at once. */
    private readonly ask: () => void,
    /** Nobody is there. */
    private readonly gone: () => void,
  ) {}

  /** Something was asked, and an answer is due. */
  awaits(): void {
    if (this.due || this.asked) return;
    this.due = true;
    this.doubtAfter(ASKS_AFTER_MS);
  }

  /** Something was heard, whatever it was; `due` if answers are awaited still. */
  heard(due: boolean): void {
    this.asked = false;
    this.due = due;
    this.doubtAfter(due ? ASKS_AFTER_MS : ASKS_QUIET_MS);
  }

  /** Something should have been heard by now. */
  doubt(): void {
    if (this.asked) return;
    this.asked = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.gone, SAYS_WITHIN_MS);
    this.ask();
  }

  end(): void {
    clearTimeout(this.timer);
    this.due = false;
    this.asked = false;
  }

  private doubtAfter(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.doubt(), ms);
  }
}
