// The file of a hand in the Poker Hand History format: the reader's own cards in it, and how it is kept.

const FIELD = /^seats = \[([\d, ]*)\]$/m;

/** The personal cards that the file shows for a seat; none where it hides them. */
export function cardsInFile(phh: string, seat: number): string[] {
  const seats = FIELD.exec(phh)?.[1]?.split(",").map(Number) ?? [];
  const position = seats.indexOf(seat);
  if (position < 0) return [];
  const dealt = new RegExp(`"d dh p${position + 1} ((?:[2-9TJQKA][shdc])+)"`).exec(phh)?.[1] ?? "";
  return dealt.match(/../g) ?? [];
}

/** The name of a hand's file: letters, digits and dashes alone, whatever the hand is called. */
export function fileName(round_id: string): string {
  return `${round_id.replace(/[^\w.-]+/g, "-").replace(/^[.-]+/, "")}.phh`;
}

/** Lets the player keep a text as a file. */
export function downloadText(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
