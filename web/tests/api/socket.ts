// A fake WebSocket: it records what the page sends, and the test decides what the page receives.

export class FakeSocket {
  static made: FakeSocket[] = [];
  static readonly OPEN = 1;
  readyState = 0;
  sent: { id: number; method: string; params: Record<string, unknown> }[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  constructor(readonly address: string) {
    FakeSocket.made.push(this);
  }

  static get last(): FakeSocket {
    const last = FakeSocket.made.at(-1);
    if (!last) throw new Error("no socket was opened");
    return last;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(code = 1000): void {
    this.breaks(code);
  }

  async opens(): Promise<void> {
    this.readyState = FakeSocket.OPEN;
    this.onopen?.();
    await settled();
  }

  breaks(code: number): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.onclose?.({ code });
  }

  async says(message: object): Promise<void> {
    this.onmessage?.({ data: JSON.stringify({ jsonrpc: "2.0", ...message }) });
    await settled();
  }

  async answers(method: string, result: object): Promise<void> {
    await this.says({ id: this.asked(method).id, result });
  }

  async refuses(method: string, reason: string, facts: Record<string, string> = {}): Promise<void> {
    const error = { code: -32000, message: reason, data: { reason, facts, status: 409, trace_id: "t" } };
    await this.says({ id: this.asked(method).id, error });
  }

  all(method: string): object[] {
    return this.sent.filter((one) => one.method === method);
  }

  asked(method: string): { id: number; params: Record<string, unknown> } {
    const call = this.sent.findLast((one) => one.method === method);
    if (!call) throw new Error(`${method} was not asked: ${this.sent.map((one) => one.method)}`);
    return call;
  }
}

/** Waits until all pending promises have continued. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}
