// Where a reader is in a list of moments, and where keys and buttons lead.

export type StepCommand = "first" | "back" | "next" | "last";

export function stepAfter(at: number, command: StepCommand, count: number): number {
  const last = Math.max(0, count - 1);
  switch (command) {
    case "first":
      return 0;
    case "back":
      return Math.max(0, at - 1);
    case "next":
      return Math.min(last, at + 1);
    case "last":
      return last;
  }
}

const KEYS: Readonly<Record<string, StepCommand>> = {
  Home: "first",
  ArrowLeft: "back",
  ArrowRight: "next",
  End: "last",
};

export function commandOfKey(key: string): StepCommand | null {
  return KEYS[key] ?? null;
}
