// What this browser remembers between visits; a browser that remembers nothing is served all the same.

export function recall(name: string): string | null {
  try {
    return localStorage.getItem(`feltro.${name}`);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`feltro.${name}`, value);
  } catch {
    // Private windows may refuse; nothing depends on it.
  }
}
