// What this browser keeps between visits. Every caller works without it.

export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`feltro.${name}`);
  } catch {
    return null;
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(`feltro.${name}`, value);
  } catch {
    // Private windows may refuse to store anything; nothing depends on it.
  }
}
