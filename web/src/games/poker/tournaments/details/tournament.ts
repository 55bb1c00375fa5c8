// A tournament as the platform has it, the player's own place in it, and the commands about it: one at a time, none twice.
import { signal } from "@preact/signals";
import type { MethodName, Mode, OwnViewChanged, Params, Result } from "../../../../api/messages";
import { asRefusal, CallAbandoned, OUTCOME_UNKNOWN, type Refusal } from "../../../../api/refusal";
import { refusalText } from "../../../../words/refusals";
import type { OwnTournament, TournamentPlayer, TournamentSummary } from "../../messages/messages";
import { tournamentWords } from "../words/words";

/** How often it is read while it is shown: what happens to the player is told at once. */
export const READ_AGAIN_MS = 5_000;
/** How many players are shown at first, and how many more at a time. */
export const PLAYERS_SHOWN = 100;
// The most that the platform sends at once.
const PAGE = 500;

type Bought = "TournamentService.Register" | "TournamentService.Rebuy" | "TournamentService.AddOn";
type Once = Bought | "TournamentService.Unregister";

interface Ports {
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
  requestId(): string;
  onOwnView(listener: (own: OwnViewChanged) => void): () => void;
  onResync(listener: () => void): () => void;
}

export class Tournament {
  /** Null until it has been read. */
  readonly summary = signal<TournamentSummary | null>(null);
  /** Null where the player has neither an entry nor a ticket. */
  readonly own = signal<OwnTournament | null>(null);
  /** Null until they have been read. */
  readonly players = signal<readonly TournamentPlayer[] | null>(null);
  readonly morePlayers = signal(false);
  /** Why it cannot be shown. */
  readonly failure = signal<Refusal | null>(null);
  readonly busy = signal(false);
  /** Why the last command was refused; empty if it was not. */
  readonly refused = signal("");
  /** The price came back because it was too late when the money arrived. */
  readonly givenBack = signal(false);

  /** A command without an answer: sent again it is the same command (G3). */
  private unanswered: { method: Once; request_id: string; ticket_id?: string } | null = null;
  /** Counts what was read: an older answer than the last is ignored. */
  private reads = 0;
  private playersWanted = 0;

  constructor(
    readonly id: string,
    private readonly ports: Ports,
  ) {}

  get mode(): Mode {
    return this.summary.value?.configuration?.mode ?? "MODE_REAL";
  }

  /** Keeps it up to date until the returned function is called. */
  follow(): () => void {
    const read = () => void this.read();
    const timer = setInterval(read, READ_AGAIN_MS);
    const ends = [
      this.ports.onResync(read),
      this.ports.onOwnView(({ table_id, notice }) => {
        if (notice && table_id === this.id) read();
      }),
    ];
    read();
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
      this.reads += 1;
    };
  }

  async read(): Promise<void> {
    this.reads += 1;
    const current = this.reads;
    try {
      const [{ tournament, own }] = await Promise.all([
        this.ports.call("TournamentService.GetTournament", { tournament_id: this.id }),
        this.playersWanted ? this.readPlayers() : undefined,
      ]);
      if (current !== this.reads) return;
      this.summary.value = tournament ?? null;
      this.own.value = own ?? null;
      this.failure.value = null;
    } catch (error) {
      // What was known stays: the next time it is asked for again.
      if (error instanceof CallAbandoned || current !== this.reads || this.summary.value) return;
      this.failure.value = asRefusal(error);
    }
  }

  /** Reads players from now on, and more of them each time. */
  async showPlayers(): Promise<void> {
    this.playersWanted += PLAYERS_SHOWN;
    await this.readPlayers().catch(() => undefined);
  }

  /** Whether the player is registered now. With a ticket nothing is paid. */
  register(ticket_id?: string): Promise<boolean> {
    const isGivenBack = ({ entry }: Result<"TournamentService.Register">) =>
      entry?.standing === "ENTRY_STANDING_WITHDRAWN";
    return this.once("TournamentService.Register", isGivenBack, ticket_id);
  }

  unregister(): Promise<boolean> {
    return this.once("TournamentService.Unregister", () => false);
  }

  rebuy(): Promise<boolean> {
    return this.once("TournamentService.Rebuy", ({ given_back }) => given_back);
  }

  addOn(): Promise<boolean> {
    return this.once("TournamentService.AddOn", ({ given_back }) => given_back);
  }

  declineRebuy(): Promise<boolean> {
    return this.command(async () => {
      await this.ports.call("TournamentService.DeclineRebuy", { tournament_id: this.id });
    });
  }

  /** Sits out, or comes back (810/2015:26). */
  setAway(away: boolean): Promise<boolean> {
    return this.command(async () => {
      await this.ports.call("TournamentService.SetTournamentPresence", { tournament_id: this.id, away });
    });
  }

  private once<M extends Once>(
    method: M,
    isGivenBack: (answer: Result<M>) => boolean,
    ticket_id?: string,
  ): Promise<boolean> {
    const { unanswered } = this;
    const known = unanswered?.method === method && unanswered.ticket_id === ticket_id ? unanswered : null;
    const command = known ?? { method, request_id: this.ports.requestId(), ...(ticket_id && { ticket_id }) };
    return this.command(async () => {
      this.unanswered = command;
      const { request_id } = command;
      const asked = { tournament_id: this.id, request_id, ...(ticket_id && { ticket_id }) } as Params<M>;
      const answer = await this.ports.call(method, asked);
      this.unanswered = null;
      this.givenBack.value = isGivenBack(answer);
    });
  }

  private async command(run: () => Promise<void>): Promise<boolean> {
    if (this.busy.value) return false;
    this.busy.value = true;
    this.refused.value = "";
    this.givenBack.value = false;
    try {
      await run();
      return true;
    } catch (error) {
      if (error instanceof CallAbandoned) return false;
      const refusal = asRefusal(error);
      if (!OUTCOME_UNKNOWN.has(refusal.reason)) this.unanswered = null;
      this.refused.value = refusalText(refusal, this.mode, tournamentWords().own.refusals);
      return false;
    } finally {
      this.busy.value = false;
      void this.read();
    }
  }

  private async readPlayers(): Promise<void> {
    const players: TournamentPlayer[] = [];
    let page_token = "";
    do {
      const page = await this.ports.call("TournamentService.ListTournamentPlayers", {
        tournament_id: this.id,
        page_size: Math.min(PAGE, this.playersWanted - players.length),
        ...(page_token && { page_token }),
      });
      players.push(...page.players);
      page_token = page.next_page_token;
    } while (page_token && players.length < this.playersWanted);
    this.players.value = players;
    this.morePlayers.value = page_token !== "";
  }
}
