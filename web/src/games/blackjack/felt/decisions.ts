// The player's own decisions: what is possible now, by the platform's word, and one command at a time.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { asRefusal, CallAbandoned, type Refusal } from "../../../api/refusal";
import type { LiveTable } from "../../../table/live/live_table";
import { type Cents, cents } from "../../../words/money";
import { type Choice, moveMessage, type OwnView } from "../messages/messages";

/** A decision that is possible now. */
export interface Possible {
  decision: Choice;
  /** What it stakes; of an insurance the most that it may be. */
  cost_cents: Cents;
}

/** What the player is asked for one place. */
export interface Question {
  place: number;
  /** The turn that asks. */
  key: string;
  /** Insurance or even money, which come before anything else. */
  offer: "insurance" | "even_money" | null;
  possible: readonly Possible[];
}

export class Decisions {
  /** The first question that the player has not answered; null while there is none. */
  readonly question: ReadonlySignal<Question | null>;
  /** A decision is under way. */
  readonly acting = signal(false);
  /** The questions that were answered, until the next turn is told. */
  private readonly answered = signal<ReadonlySet<string>>(new Set());

  constructor(
    private readonly table: Pick<LiveTable, "act" | "own" | "turn" | "snapshot" | "state">,
    ready: ReadonlySignal<boolean>,
    private readonly refused: (refusal: Refusal) => void,
  ) {
    this.question = computed(() => {
      // Nobody decides before the cards lie.
      if (!ready.value || table.state.value !== "playing") return null;
      const questions = questionsIn(table.own.view.value as OwnView | null, this.turnKey());
      return questions.find(({ key }) => !this.answered.value.has(key)) ?? null;
    });
  }

  async decide(decision: Choice, insurance_cents: Cents = 0): Promise<void> {
    const question = this.question.value;
    if (!question || this.acting.value || !question.possible.some((one) => one.decision === decision)) return;
    this.acting.value = true;
    try {
      await this.table.act(moveMessage(question.place, decision, insurance_cents));
      this.answered.value = new Set([...this.answered.value, question.key].slice(-ANSWERS_KEPT));
    } catch (error) {
      if (!(error instanceof CallAbandoned)) this.refused(asRefusal(error));
    } finally {
      this.acting.value = false;
    }
  }

  private turnKey(): string {
    return `${this.table.snapshot.value?.round?.round_id ?? ""}:${this.table.turn.value?.turn ?? 0}`;
  }
}

// More than one turn has places.
const ANSWERS_KEPT = 16;

/** The questions of the player's places, in their order; offers by themselves, since nothing else is asked with them. */
export function questionsIn(own: OwnView | null, turn: string): readonly Question[] {
  const places = [...new Set((own?.options ?? []).map(({ place }) => place))].sort((a, b) => a - b);
  return places.map((place) => {
    const possible = (own?.options ?? [])
      .filter((option) => option.place === place)
      .flatMap(({ decision, cost_cents }) =>
        decision === "DECISION_UNSPECIFIED" ? [] : [{ decision, cost_cents: cents(cost_cents) }],
      );
    const has = (decision: Choice) => possible.some((one) => one.decision === decision);
    const offer = has("DECISION_EVEN_MONEY")
      ? "even_money"
      : has("DECISION_INSURE") || has("DECISION_DECLINE")
        ? "insurance"
        : null;
    return { place, key: `${turn}:${place}`, offer, possible };
  });
}
