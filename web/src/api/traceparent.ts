// The W3C trace context of a command: its trace begins in the browser.

const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
// Sampled: whether a trace is recorded is for the gateway to say, which records none that clients exclude.
const FLAGS = "01";

/** The header of a new trace. */
export function newTraceparent(): string {
  return `00-${randomHex(TRACE_BYTES)}-${randomHex(SPAN_BYTES)}-${FLAGS}`;
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
