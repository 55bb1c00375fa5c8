// The player's own cave as the platform has it, and the commands about it: one at a time, and none twice.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { CaveAtSeat, MethodName, OwnCave, Params, Result } from "../../../api/messages";
import { asRefusal, CallAbandoned, OUTCOME_UNKNOWN } from "../../../api/refusal";
import type { LiveTable } from "../../../table/live/live_table";
import type { Cents } from "../../../words/money";
import { refusalText } from "../../../words/refusals";
import type { Presence } from "../messages/messages";
import { caveWords } from "./words";

interface Ports {
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  requestId(): string;
}

type Table = Pick<LiveTable, "tableId" | "snapshot" | "ownSeat" | "mode" | "onEvent" | "onSnapshot">;

export class PlayerCave {
  readonly own = signal<OwnCave | null>(null);
  /** The player's cave as everybody sees it. */
  readonly at: ReadonlySignal<CaveAtSeat | undefined>;
  readonly busy = signal(false);
  /** Why the last command was refused; empty if it was not. */
  readonly refused = signal("");

  /** A purchase without an answer: the same amount again is the same command (G3). */
  private unanswered: { amount_cents: Cents; request_id: string } | null = null;
  /** Counts what was read: an older answer than the last is ignored. */
  private reads = 0;

  constructor(
    private readonly table: Table,
    private readonly ports: Ports,
  ) {
    this.own.value = table.ownSeat.peek()?.cave ?? null;
    this.at = computed(() => {
      const seat = table.ownSeat.value?.seat;
      return table.snapshot.value?.caves?.find((each) => each.seat === seat);
    });
  }

  /** Reads the cave again whenever something of it may have changed, until the returned function is called. */
  follow(): () => void {
    const ends = [
      this.table.onSnapshot((_, { cave }) => {
        this.reads += 1;
        this.own.value = cave ?? null;
      }),
      this.table.onEvent(({ caves_changed, round_settled, round_voided, round_dealt }) => {
        if (caves_changed || round_settled || round_voided || round_dealt) void this.read();
      }),
    ];
    return () => {
      for (const end of ends) end();
      this.reads += 1;
    };
  }

  /** Whether the amount was bought in. */
  async buyIn(amount_cents: Cents): Promise<boolean> {
    const known = this.unanswered?.amount_cents === amount_cents ? this.unanswered : null;
    const command = known ?? { amount_cents, request_id: this.ports.requestId() };
    return this.command(async () => {
      this.unanswered = command;
      const { request_id } = command;
      const table_id = this.table.tableId.value;
      await this.ports.call("PokerService.BuyIn", { table_id, request_id, amount_cents: String(amount_cents) });
      this.unanswered = null;
    });
  }

  /** Whether the player is present or away from now on. */
  setPresence(presence: Presence, posts_big_blind = false): Promise<boolean> {
    const table_id = this.table.tableId.value;
    return this.command(async () => {
      await this.ports.call("PokerService.SetPresence", { table_id, presence, posts_big_blind });
    });
  }

  forgetRefusal(): void {
    this.refused.value = "";
  }

  private async command(run: () => Promise<void>): Promise<boolean> {
    if (this.busy.value) return false;
    this.busy.value = true;
    this.refused.value = "";
    try {
      await run();
      return true;
    } catch (error) {
      if (error instanceof CallAbandoned) return false;
      const refusal = asRefusal(error);
      if (!OUTCOME_UNKNOWN.has(refusal.reason)) this.unanswered = null;
      this.refused.value = refusalText(refusal, this.table.mode.value, caveWords().refusals);
      return false;
    } finally {
      this.busy.value = false;
      void this.read();
    }
  }

  private async read(): Promise<void> {
    this.reads += 1;
    const current = this.reads;
    const answer = await this.ports
      .call("TableService.GetTable", { table_id: this.table.tableId.value })
      .catch(() => null);
    // Without an answer what was known stays: the next change asks again.
    if (answer?.own_seat && current === this.reads) this.own.value = answer.own_seat.cave ?? null;
  }
}
