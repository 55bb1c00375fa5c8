// The player's place on a table's waiting list: the platform tells each change of it, and it is asked for after a loss.
import { signal } from "@preact/signals";
import type { Mode, OwnViewChanged, Params, Result } from "../../../api/messages";
import { asRefusal, CallAbandoned } from "../../../api/refusal";
import { refusalText } from "../../../words/refusals";
import { caveWords } from "../cave/words";

export interface Place {
  position: number;
  /** The seat that is kept for the player; 0 while none is. */
  seat: number;
  /** Until when it is kept; only the platform's own message says it. */
  kept_until?: string | undefined;
}

type WaitingMethod = "PokerService.JoinWaitingList" | "PokerService.LeaveWaitingList";

interface Ports {
  call<M extends WaitingMethod>(method: M, params: Params<M>): Promise<Result<M>>;
  /** Calls the listener with what the platform tells the player alone; the returned function ends it. */
  onOwnView(listener: (own: OwnViewChanged) => void): () => void;
  /** Calls the listener when such messages may have been missed; the returned function ends it. */
  onResync(listener: () => void): () => void;
}

export class WaitingPlace {
  /** Null while the player is not on the list. */
  readonly place = signal<Place | null>(null);
  /** The player waited, and is not on the list any more without having left it. */
  readonly lost = signal(false);
  readonly busy = signal(false);
  readonly refused = signal("");
  /** Counts the player's own wishes: an answer to an earlier one is ignored. */
  private wishes = 0;
  /** Counts what the platform has told: it is newer than an answer that comes after it. */
  private told = 0;

  constructor(
    private readonly table_id: string,
    private readonly mode: Mode,
    private readonly ports: Ports,
  ) {}

  /** Follows the list until the returned function is called; the player stays on it. */
  follow(): () => void {
    const ends = [
      this.ports.onOwnView((own) => this.changed(own)),
      // Asking twice changes nothing: who is on the list keeps their place.
      this.ports.onResync(() => {
        if (this.place.value && !this.busy.value) void this.ask();
      }),
    ];
    return () => {
      for (const end of ends) end();
      this.wishes += 1;
    };
  }

  async join(): Promise<void> {
    if (this.busy.value) return;
    this.wishes += 1;
    this.busy.value = true;
    this.lost.value = false;
    await this.ask();
    this.busy.value = false;
  }

  async leave(): Promise<void> {
    if (this.busy.value) return;
    this.wishes += 1;
    this.busy.value = true;
    try {
      await this.ports.call("PokerService.LeaveWaitingList", { table_id: this.table_id });
      this.place.value = null;
      this.refused.value = "";
    } catch (error) {
      this.failed(error);
    } finally {
      this.busy.value = false;
    }
  }

  private async ask(): Promise<void> {
    const [wish, told] = [this.wishes, this.told];
    try {
      const { position, seat } = await this.ports.call("PokerService.JoinWaitingList", { table_id: this.table_id });
      if (wish !== this.wishes) return;
      this.refused.value = "";
      if (told === this.told) this.place.value = { position, seat };
    } catch (error) {
      if (wish === this.wishes) this.failed(error);
    }
  }

  private changed({ table_id, waiting }: OwnViewChanged): void {
    if (table_id !== this.table_id || !waiting) return;
    this.told += 1;
    const { position, seat, kept_until } = waiting;
    if (position > 0) {
      this.lost.value = false;
      this.place.value = { position, seat, kept_until };
      return;
    }
    // A player who leaves hears it, too, before the answer.
    this.lost.value = this.place.value !== null && !this.busy.value;
    this.place.value = null;
  }

  private failed(error: unknown): void {
    if (error instanceof CallAbandoned) return;
    const refusal = asRefusal(error);
    this.refused.value = refusalText(refusal, this.mode, caveWords().refusals);
    if (refusal.reason === "ALREADY_SEATED" || refusal.reason === "WAITING_LIST_FULL") this.place.value = null;
  }
}
