// Moves the focus to the heading of a newly shown page, even if the heading appears late.

let pending = false;

function forget(): void {
  pending = false;
  removeEventListener("keydown", forget);
  removeEventListener("pointerdown", forget);
}

/** Focuses the current heading, and any that replaces it until the player does something. */
export function focusHeading(): void {
  forget();
  pending = true;
  addEventListener("keydown", forget);
  addEventListener("pointerdown", forget);
  document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}

/** Called when a heading appears. */
export function focusLateHeading(heading: HTMLElement | null): void {
  if (pending) heading?.focus({ preventScroll: true });
}
