// A notice stays as long as it takes to read, and no longer.
import { describe, expect, it } from "vitest";
import { FeltNotice } from "../../../src/games/roulette/felt_notice";

/** Timers that are started by hand. */
function clock() {
  const waiting: { ms: number; then: () => void }[] = [];
  return {
    waiting,
    later: (ms: number, then: () => void) => {
      const timer = { ms, then };
      waiting.push(timer);
      return () => {
        if (waiting.includes(timer)) waiting.splice(waiting.indexOf(timer), 1);
      };
    },
    pass: () => {
      for (const { then } of waiting.splice(0)) then();
    },
  };
}

describe("a notice", () => {
  it("goes by itself after the time that its words take, within bounds", () => {
    const { later, waiting, pass } = clock();
    const notice = new FeltNotice(later);
    notice.say("Não.", false);
    expect(waiting.map(({ ms }) => ms)).toEqual([3000]);
    notice.say("x".repeat(60), false);
    expect(waiting.map(({ ms }) => ms)).toEqual([4500]);
    notice.say("x".repeat(400), true);
    expect(waiting.map(({ ms }) => ms)).toEqual([6000]);
    expect(notice.shown.value?.wantsMoney).toBe(true);
    pass();
    expect(notice.shown.value).toBeNull();
  });

  it("stays while it is being pointed at, and goes after that", () => {
    const { later, waiting, pass } = clock();
    const notice = new FeltNotice(later);
    notice.say("O saldo não chega.", true);
    notice.keep();
    pass();
    expect(notice.shown.value?.text).toBe("O saldo não chega.");
    notice.letGo();
    expect(waiting).toHaveLength(1);
    pass();
    expect(notice.shown.value).toBeNull();
  });

  it("that is closed leaves nothing behind", () => {
    const { later, waiting } = clock();
    const notice = new FeltNotice(later);
    notice.say("O saldo não chega.", false);
    notice.close();
    expect(notice.shown.value).toBeNull();
    expect(waiting).toHaveLength(0);
    notice.letGo();
    expect(waiting).toHaveLength(0);
  });
});
