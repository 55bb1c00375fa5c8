// The platform said no, and why: `reason` belongs to a closed set (see /problems), `facts` hold what is needed to go on.

export class Refusal extends Error {
  constructor(
    readonly reason: string,
    readonly facts: Readonly<Record<string, string>>,
    readonly traceId: string,
    detail: string,
  ) {
    super(detail);
    this.name = "Refusal";
  }
}

/** The connection was given up, by ourselves: nobody waits for this answer any more. */
export class Abandoned extends Error {}

/** What a failed call came to. Whatever is not a refusal is a fault of ours or of the network. */
export function reasonOf(error: unknown): string {
  return error instanceof Refusal ? error.reason : "";
}

/** The operator may have been told, or not: the same command has to be sent again, under the same name. */
export const UNSURE: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "TABLE_ELSEWHERE",
  "OVERLOADED",
  "RATE_LIMITED",
  "",
]);
