// The player's own decisions: what is possible now, by the platform's word, one command at a time, and what was decided before.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { asRefusal, CallAbandoned } from "../../../api/refusal";
import type { LiveTable } from "../../../table/live/live_table";
import { type Cents, cents } from "../../../words/money";
import { refusalText } from "../../../words/refusals";
import { AmountChoice } from "../amounts/amount_choice";
import { type Action, moveMessage, type OwnView, type View } from "../messages/messages";
import { actionOf, type Outlook, outlookOf, type PreAction, type PreActionKind, stillHolds } from "./pre_actions";
import { canRaise, type PotPart, type RaiseSituation, raiseTo } from "./raise_amounts";
import { actWords } from "./words";

/** What the player is asked in their turn. */
export interface Question extends RaiseSituation {
  /** The turn that asks. */
  key: string;
  /** What the player has besides the bets. */
  stack_cents: Cents;
  /** Calling takes all of it. */
  call_is_all_in: boolean;
  /** A raise opens the betting of this round: nobody has bet in it. */
  opens: boolean;
  /** The amount of a raise; null if none is possible. */
  raise: AmountChoice | null;
}

type Table = Pick<LiveTable, "act" | "own" | "ownSeat" | "turn" | "snapshot" | "state" | "unit">;

export class Decisions {
  /** Null while it is not the player's turn, or they have answered. */
  readonly question: ReadonlySignal<Question | null>;
  /** What the player would face if it were their turn; null during it, and where nothing is left to decide. */
  readonly outlook: ReadonlySignal<Outlook | null>;
  readonly preAction: ReadonlySignal<PreAction | null>;
  /** A decision is under way. */
  readonly acting = signal(false);
  /** Why the last decision was refused, with the bounds; empty if it was not. */
  readonly refused = signal("");
  /** The player wants to fold where a check is free, and is asked whether they mean it. */
  readonly foldAsked = signal(false);

  private readonly given = signal<PreAction | null>(null);
  /** The turn that the player has answered. */
  private readonly answered = signal("");

  /** `ready` says that everything the turn depends on lies on the screen. */
  constructor(
    private readonly table: Table,
    ready: ReadonlySignal<boolean>,
    /** The big blind in force: what one step of a raise is. */
    private readonly bigBlind: () => Cents,
  ) {
    const key = computed(() => (table.own.asked.value ? this.turnKey() : ""));
    const asked = computed(() => {
      const legal = (table.own.view.value as OwnView | null)?.legal;
      const playing = ready.value && table.state.value === "playing";
      return playing && key.value && key.value !== this.answered.value && legal ? legal : null;
    });
    this.question = computed(() => {
      const legal = asked.value;
      return legal ? this.questionOf(legal, key.value) : null;
    });
    this.outlook = computed(() => {
      const { round } = table.snapshot.value ?? {};
      if (!round?.view || round.outcome || !round.turn || table.own.asked.value) return null;
      return outlookOf(round.view as View, round.round_id, table.ownSeat.value?.seat);
    });
    this.preAction = computed(() => {
      const given = this.given.value;
      // In the turn itself it holds for as long as it takes to send it.
      return given && this.outlook.value && stillHolds(given, this.outlook.value) ? given : null;
    });
  }

  /** Sends what was decided before once the turn has come, until the returned function is called. */
  follow(): () => void {
    const ends = [
      effect(() => {
        const question = this.question.value;
        if (!question) return;
        const given = this.given.peek();
        this.given.value = null;
        this.foldAsked.value = false;
        this.refused.value = "";
        const { round } = this.table.snapshot.peek() ?? {};
        if (!given || !round?.view) return;
        const now: Outlook = {
          round_id: round.round_id,
          street: (round.view as View).street,
          to_call_cents: question.to_call_cents,
        };
        const action = stillHolds(given, now) ? actionOf(given, { to_call_cents: String(now.to_call_cents) }) : null;
        if (action) void this.send(action);
      }),
      // What answers nothing any more is forgotten: it would come back when the same amount does.
      effect(() => {
        const [given, now] = [this.given.value, this.outlook.value];
        if (given && now && !stillHolds(given, now)) this.given.value = null;
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Gives a decision before the turn, or takes it back. */
  giveBefore(kind: PreActionKind): void {
    const outlook = this.outlook.value;
    if (!outlook) return;
    this.given.value = this.preAction.value?.kind === kind ? null : { kind, outlook };
  }

  fold(): void {
    const question = this.question.value;
    if (!question) return;
    if (question.to_call_cents === 0 && !this.foldAsked.value) this.foldAsked.value = true;
    else void this.send("ACTION_FOLD");
  }

  keepPlaying(): void {
    this.foldAsked.value = false;
  }

  checkOrCall(): void {
    const question = this.question.value;
    if (question) void this.send(question.to_call_cents === 0 ? "ACTION_CHECK" : "ACTION_CALL");
  }

  /** Raises to the amount that is chosen, if it can be. */
  raise(): void {
    const to_cents = this.question.value?.raise?.cents.value;
    if (to_cents) void this.send("ACTION_RAISE", to_cents);
  }

  choosePart(part: PotPart): void {
    const question = this.question.value;
    question?.raise?.set(raiseTo(part, question));
  }

  private async send(action: Action, to_cents = 0): Promise<void> {
    const question = this.question.value;
    if (!question || this.acting.value) return;
    this.acting.value = true;
    this.refused.value = "";
    try {
      await this.table.act(moveMessage(action, to_cents));
      this.answered.value = question.key;
    } catch (error) {
      // A turn that is over has taken its reason with it: the next one begins without.
      if (!(error instanceof CallAbandoned)) {
        this.refused.value = refusalText(asRefusal(error), this.table.unit.value, actWords().refusals);
      }
    } finally {
      this.acting.value = false;
      this.foldAsked.value = false;
    }
  }

  private questionOf(legal: NonNullable<OwnView["legal"]>, key: string): Question {
    const view = this.table.snapshot.peek()?.round?.view as View | undefined;
    const own = view?.seats.find(({ seat }) => seat === legal.seat);
    const to_call_cents = cents(legal.to_call_cents);
    const situation: RaiseSituation = {
      bet_cents: cents(own?.bet_cents),
      to_call_cents,
      total_cents: cents(view?.total_cents),
      min_to_cents: cents(legal.min_to_cents),
      max_to_cents: cents(legal.max_to_cents),
    };
    const range = { minimum_cents: situation.min_to_cents, maximum_cents: situation.max_to_cents };
    return {
      ...situation,
      key,
      stack_cents: cents(own?.stack_cents),
      call_is_all_in: to_call_cents > 0 && to_call_cents === cents(own?.stack_cents),
      opens: to_call_cents === 0 && situation.bet_cents === 0,
      raise: canRaise(situation)
        ? new AmountChoice(range, this.bigBlind(), range.minimum_cents, this.table.unit.peek() === "CHIPS" ? 1 : 100)
        : null,
    };
  }

  private turnKey(): string {
    return `${this.table.snapshot.value?.round?.round_id ?? ""}:${this.table.turn.value?.turn ?? 0}`;
  }
}
