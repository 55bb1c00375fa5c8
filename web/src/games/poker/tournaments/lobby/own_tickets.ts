// The entries that the player has won and not used yet, as the wallet has them.
import { signal } from "@preact/signals";
import type { MethodName, Params, Result } from "../../../../api/messages";
import type { Ticket } from "../../messages/messages";

// Nobody wins more at once.
const MOST = 50;

interface Ports {
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
}

export class OwnTickets {
  readonly open = signal<readonly Ticket[]>([]);
  private reads = 0;

  constructor(private readonly ports: Ports) {}

  /** Reads the tickets of an account; none where nobody is logged in. What was known stays where there is no answer. */
  async read(account_id: string | undefined): Promise<void> {
    this.reads += 1;
    const current = this.reads;
    if (!account_id) {
      this.open.value = [];
      return;
    }
    try {
      const asked = { account_id, open_only: true, page_size: MOST };
      const { tickets } = await this.ports.call("TicketService.ListTickets", asked);
      if (current === this.reads) this.open.value = tickets;
    } catch {
      // A platform without tickets, or without a connection, which the frame shows.
    }
  }
}
