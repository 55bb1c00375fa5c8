// The player's registration for a table that is open for a session fixed beforehand.
import { signal } from "@preact/signals";
import type { Mode, Params, Result } from "../../../api/messages";
import { asRefusal, CallAbandoned } from "../../../api/refusal";
import { refusalText } from "../../../words/refusals";
import { caveWords } from "../cave/words";

type RegistrationMethod =
  | "PokerService.RegisterForPeriod"
  | "PokerService.CancelPeriodRegistration"
  | "PokerService.GetPeriodRegistration";

export interface Known {
  registered: boolean;
  /** How many players are. */
  players: number;
}

interface Ports {
  call<M extends RegistrationMethod>(method: M, params: Params<M>): Promise<Result<M>>;
}

export class Registration {
  /** Null until the platform has said it. */
  readonly known = signal<Known | null>(null);
  readonly busy = signal(false);
  readonly refused = signal("");

  constructor(
    private readonly table_id: string,
    private readonly mode: Mode,
    private readonly ports: Ports,
  ) {}

  read(): Promise<void> {
    return this.send("PokerService.GetPeriodRegistration");
  }

  register(): Promise<void> {
    return this.send("PokerService.RegisterForPeriod");
  }

  cancel(): Promise<void> {
    return this.send("PokerService.CancelPeriodRegistration");
  }

  private async send(method: RegistrationMethod): Promise<void> {
    if (this.busy.value) return;
    this.busy.value = true;
    try {
      const { registration } = await this.ports.call(method, { table_id: this.table_id });
      this.refused.value = "";
      if (registration) this.known.value = { registered: registration.registered, players: registration.players };
    } catch (error) {
      if (!(error instanceof CallAbandoned)) {
        this.refused.value = refusalText(asRefusal(error), this.mode, caveWords().refusals);
      }
    } finally {
      this.busy.value = false;
    }
  }
}
