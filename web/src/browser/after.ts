// A timer that can be cancelled, as sequences and notices are given their time.

export function after(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}
