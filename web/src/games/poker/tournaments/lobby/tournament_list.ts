// Which tournaments there are, as the platform lists them: those that can be entered or watched, and the latest that are over.
import { signal } from "@preact/signals";
import type { MethodName, Mode, Params, Result } from "../../../../api/messages";
import type { TournamentSummary } from "../../messages/messages";

/** How often the list is read while it is shown. */
export const READ_AGAIN_MS = 10_000;
// The most that the platform sends at once, and how many of those that are over are shown.
const PAGE = 500;
const ENDED = 5;

interface Ports {
  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>>;
}

export interface Listed {
  open: readonly TournamentSummary[];
  ended: readonly TournamentSummary[];
  /** Where the player has an entry. */
  mine: ReadonlySet<string>;
}

export class TournamentList {
  /** Null until it has been read. */
  readonly listed = signal<Listed | null>(null);
  private reads = 0;

  constructor(
    private readonly mode: Mode,
    private readonly ports: Ports,
  ) {}

  /** Reads the list; what was known stays where there is no answer. `asPlayer`: somebody is logged in. */
  async read(asPlayer: boolean): Promise<void> {
    this.reads += 1;
    const current = this.reads;
    try {
      const [running, registering, finished, cancelled, mine] = await Promise.all([
        this.page({ phase: "TOURNAMENT_PHASE_RUNNING", page_size: PAGE }),
        this.page({ phase: "TOURNAMENT_PHASE_REGISTERING", page_size: PAGE }),
        this.page({ phase: "TOURNAMENT_PHASE_FINISHED", page_size: ENDED }),
        this.page({ phase: "TOURNAMENT_PHASE_CANCELLED", page_size: ENDED }),
        asPlayer ? this.page({ mine: true, page_size: PAGE }) : [],
      ]);
      if (current !== this.reads) return;
      this.listed.value = {
        open: inOrder([...registering, ...running]),
        ended: latestFirst([...finished, ...cancelled]).slice(0, ENDED),
        mine: new Set(mine.map(({ tournament_id }) => tournament_id)),
      };
    } catch {
      // A platform without tournaments, or without a connection, which the frame shows.
    }
  }

  private async page(asked: Params<"TournamentService.ListTournaments">): Promise<readonly TournamentSummary[]> {
    return (await this.ports.call("TournamentService.ListTournaments", { mode: this.mode, ...asked })).tournaments;
  }
}

/** Those that players can enter come first, the next to start before the others. */
export function inOrder(tournaments: readonly TournamentSummary[]): TournamentSummary[] {
  const rank = (each: TournamentSummary) => (each.open_to_entries ? 0 : 1);
  const starts = ({ configuration, started_at }: TournamentSummary) =>
    Date.parse(started_at ?? configuration?.rules?.starts_at ?? "") || 0;
  return [...tournaments].sort((one, other) => rank(one) - rank(other) || starts(one) - starts(other));
}

function latestFirst(tournaments: readonly TournamentSummary[]): TournamentSummary[] {
  const ended = ({ ended_at }: TournamentSummary) => Date.parse(ended_at ?? "") || 0;
  return [...tournaments].sort((one, other) => ended(other) - ended(one));
}
