// Whoever goes to another page is taken to its heading, also when the page is not ready at once and its heading comes later.

let owed = false;

function forget(): void {
  owed = false;
  removeEventListener("keydown", forget);
  removeEventListener("pointerdown", forget);
}

/** Another page is shown: its heading is focused, and any that replaces it, until he does something. */
export function arrive(): void {
  forget();
  owed = true;
  addEventListener("keydown", forget);
  addEventListener("pointerdown", forget);
  document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
}

/** A heading has appeared. */
export function greet(heading: HTMLElement | null): void {
  if (owed) heading?.focus({ preventScroll: true });
}
