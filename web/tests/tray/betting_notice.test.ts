// A notice stays as long as it takes to read, and no longer.
import "../page";
import { describe, expect, it } from "vitest";
import { BettingNotice } from "../../src/tray/betting_notice";

/** Timers that the test runs by hand. */
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
  it("closes after the time its text takes to read, within bounds", () => {
    const { later, waiting, pass } = clock();
    const notice = new BettingNotice(later);
    notice.show("Não.", false);
    expect(waiting.map(({ ms }) => ms)).toEqual([3000]);
    notice.show("x".repeat(60), false);
    expect(waiting.map(({ ms }) => ms)).toEqual([4500]);
    notice.show("x".repeat(400), true);
    expect(waiting.map(({ ms }) => ms)).toEqual([6000]);
    expect(notice.shown.value?.offersCashier).toBe(true);
    pass();
    expect(notice.shown.value).toBeNull();
  });

  it("stays while it is pointed at, and closes after that", () => {
    const { later, waiting, pass } = clock();
    const notice = new BettingNotice(later);
    notice.show("O saldo não chega.", true);
    notice.keepOpen();
    pass();
    expect(notice.shown.value?.text).toBe("O saldo não chega.");
    notice.closeLater();
    expect(waiting).toHaveLength(1);
    pass();
    expect(notice.shown.value).toBeNull();
  });

  it("leaves no timer when closed", () => {
    const { later, waiting } = clock();
    const notice = new BettingNotice(later);
    notice.show("O saldo não chega.", false);
    notice.close();
    expect(notice.shown.value).toBeNull();
    expect(waiting).toHaveLength(0);
    notice.closeLater();
    expect(waiting).toHaveLength(0);
  });
});
