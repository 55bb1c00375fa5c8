// The places of the boards by name.

/** The places of a board, from the shapes of 3.2 of the rulebook. */
export function board(zeros: 1 | 2): string[] {
  const numbers = Array.from({ length: 36 }, (_, at) => at + 1);
  const around =
    zeros === 1
      ? ["0", "0-1", "0-2", "0-3", "0-1-2", "0-2-3", "0-1-2-3"]
      : ["0", "00", "0-00", "0-1", "0-2", "00-2", "00-3", "0-1-2", "0-00-2", "00-2-3"];
  return [
    ...around,
    ...numbers.map(String),
    ...numbers.filter((n) => n % 3).map((n) => `${n}-${n + 1}`),
    ...numbers.filter((n) => n <= 33).map((n) => `${n}-${n + 3}`),
    ...numbers.filter((n) => n % 3 === 1).map((n) => `${n}-${n + 1}-${n + 2}`),
    ...numbers.filter((n) => n % 3 && n <= 32).map((n) => `${n}-${n + 1}-${n + 3}-${n + 4}`),
    ...numbers.filter((n) => n % 3 === 1 && n < 34).map((n) => [0, 1, 2, 3, 4, 5].map((more) => n + more).join("-")),
    ...["dozen-1", "dozen-2", "dozen-3", "column-1", "column-2", "column-3"],
    ...["double-dozen-1-2", "double-dozen-2-3", "double-column-1-2", "double-column-2-3"],
    ...["even", "odd", "low", "high", "red", "black"],
  ];
}
