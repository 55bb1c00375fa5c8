// A refusal by the platform: `reason` is from a closed set (see /problems), `facts` hold what is needed to go on.

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

/** Any failure as a refusal: one without a reason means that it is unknown whether anything was done. */
export function asRefusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal("", {}, "", String(error));
}

/** The page itself closed the connection; nothing waits for this answer any more. */
export class CallAbandoned extends Error {}

/** The command may have acted or not: it has to be sent again with the same `request_id`. */
export const OUTCOME_UNKNOWN: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "TABLE_ELSEWHERE",
  "OVERLOADED",
  "RATE_LIMITED",
  "",
]);
