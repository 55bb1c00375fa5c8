// A table that is shown stays what the platform says, whatever arrives between a public snapshot and the own seat's answer.
import "../../page";
import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TableListener } from "../../../src/api/connection";
import type { OwnSeat, TableEvent, TableSnapshot } from "../../../src/api/messages";
import { Refusal } from "../../../src/api/refusal";
import { observeServerTime, sessionNow } from "../../../src/api/server_clock";
import { LiveTable } from "../../../src/table/live/live_table";
import { HELD_MS, READS_LIMIT } from "../../../src/table/live/own_seat_reader";
import { settled } from "../../api/socket";

const platform = vi.hoisted(() => ({
  calls: [] as Call[],
  listener: null as unknown,
  session: { session_id: "french-ana", state: "SESSION_STATE_ACTIVE", started_at: "2026-01-05T20:00:00Z" },
  summary: { duration_ms: "61500" },
}));

interface Call {
  method: string;
  resolve(answer: object): void;
  reject(error: Error): void;
}

vi.mock("../../../src/api/platform", () => ({
  call: (method: string) =>
    new Promise((resolve, reject) => {
      if (method !== "SessionService.GetSession") platform.calls.push({ method, resolve, reject });
      else resolve({ session: platform.session, summary: platform.summary });
    }),
  watch: (_: string, listener: unknown) => {
    platform.listener = listener;
    return () => undefined;
  },
  identity: signal({ kind: "player", playerId: "ana" }),
  enterAsGuest: () => Promise.resolve(),
  onFact: () => () => undefined,
  onResync: () => () => undefined,
  onOwnView: () => () => undefined,
  readBalance: () => Promise.resolve(),
  requestId: () => "id",
  updateBalance: () => undefined,
  checkConnection: () => undefined,
}));

const ME = 1;
const OTHER = 2;

/** What a game makes of the table: its stakes, by seat, each counted once for each time it was received. */
let stakes: string[];
let rounds: string[];
let table: LiveTable;

beforeEach(async () => {
  vi.stubGlobal("navigator", { userAgent: "test" });
  vi.useFakeTimers();
  platform.calls = [];
  platform.session = { ...platform.session, state: "SESSION_STATE_ACTIVE" };
  stakes = [];
  rounds = [];
  table = new LiveTable("french", false);
  table.onSnapshot((shown, own) => {
    rounds = [shown.round?.round_id ?? ""];
    // The other player's bets are part of what is public; the fixtures name them by their places.
    stakes = [
      ...shown.bets.map(({ bets }) => String(bets && "bets" in bets && bets.bets[0]?.place)),
      ...own.stakes.map(({ stake_id }) => stake_id),
    ];
  });
  table.onEvent(({ bets_placed, bets_cancelled, round_opened }) => {
    if (bets_placed) stakes.push(bets_placed.stake_id);
    if (bets_cancelled) stakes.splice(stakes.indexOf(bets_cancelled.stake_id), 1);
    if (round_opened) {
      stakes = [];
      rounds.push(round_opened.round?.round_id ?? "");
    }
  });
  answer("TableService.EnterTable", whole(10));
  await settled();
});

afterEach(() => {
  table.close();
  vi.useRealTimers();
});

const snapshot = (seq: number, round: string, others: string[]) =>
  ({
    table_id: "french",
    seq: String(seq),
    phase: "PHASE_BETTING",
    round: { round_id: round },
    bets: others.map((id) => ({ seat: OTHER, staked_cents: "100", bets: { bets: [{ place: id }] } })),
    past_outcomes: [],
    seated: 2,
  }) as unknown as TableSnapshot;

function whole(seq: number, own: string[] = [], others: string[] = [], round = "french.1") {
  const own_seat = { seat: ME, stakes: own.map((stake_id) => ({ stake_id, amount_cents: "100" })) };
  return {
    table: snapshot(seq, round, others),
    own_seat: own_seat as unknown as OwnSeat,
    session: platform.session,
  };
}

function answer(method: string, result: object): void {
  const call = platform.calls.find((one) => one.method === method);
  if (!call) throw new Error(`${method} was not asked`);
  platform.calls.splice(platform.calls.indexOf(call), 1);
  call.resolve(result);
}

async function receives(seq: number, what: object): Promise<void> {
  (platform.listener as TableListener).event({
    table_id: "french",
    seq: String(seq),
    ...what,
  } as unknown as TableEvent);
  await settled();
}

const published = (others: string[] = [], round = "french.1") => ({
  snapshot_published: { snapshot: snapshot(0, round, others) },
});
const placed = (seat: number, stake_id: string) => ({ bets_placed: { seat, stake_id, amount_cents: "100" } });

async function answers(result: object): Promise<void> {
  answer("TableService.GetTable", result);
  await settled();
}

test("a bet placed after the answer was made stays", async () => {
  await receives(11, published());
  await receives(12, placed(ME, "mine"));
  await receives(13, placed(OTHER, "theirs"));
  await answers(whole(11));
  expect(stakes).toEqual(["mine", "theirs"]);
  expect(table.snapshot.value?.seq).toBe("13");
});

test("a bet that the answer includes is counted once, whether its event arrives before the answer or after it", async () => {
  await receives(11, published(["theirs"]));
  await receives(12, placed(ME, "mine"));
  await answers(whole(13, ["mine"], ["theirs", "theirs 2"]));
  await receives(13, placed(OTHER, "theirs 2"));
  await receives(14, placed(OTHER, "theirs 3"));
  expect(stakes).toEqual(["theirs", "theirs 2", "mine", "theirs 3"]);
});

test("a seat that is taken is counted once", async () => {
  await receives(11, published());
  const { table: public_, own_seat } = whole(12);
  await answers({ table: { ...public_, seated: 3 }, own_seat });
  await receives(12, { seat_taken: { seat: 3 } });
  expect(table.snapshot.value?.seated).toBe(3);
});

test("a bet taken back after the answer was made stays taken back", async () => {
  await receives(11, published());
  await receives(12, { bets_cancelled: { seat: ME, stake_id: "mine" } });
  await answers(whole(11, ["mine"]));
  expect(stakes).toEqual([]);
});

test("the next round begins without the stakes of the one that the answer tells of", async () => {
  await receives(11, published());
  await receives(12, { round_opened: { round: { round_id: "french.2" } } });
  await receives(13, placed(ME, "next"));
  await answers(whole(11, ["mine"]));
  expect(rounds).toEqual(["french.1", "french.2"]);
  expect(stakes).toEqual(["next"]);
  expect(table.openRound.value).toBe("french.2");
});

test("a round that the answer alone tells of is taken over", async () => {
  await receives(11, published());
  await answers(whole(14, ["next"], [], "french.2"));
  await receives(12, placed(OTHER, "before"));
  await receives(13, { round_opened: { round: { round_id: "french.2" } } });
  await receives(14, placed(ME, "next"));
  await receives(15, placed(ME, "more"));
  expect(rounds).toEqual(["french.2"]);
  expect(stakes).toEqual(["next", "more"]);
});

test("an answer to an older snapshot is ignored", async () => {
  await receives(11, published());
  await receives(12, placed(ME, "lost with its owner"));
  await receives(12, published());
  await receives(13, placed(ME, "mine"));
  await answers(whole(12, ["lost with its owner"]));
  await answers(whole(12));
  expect(stakes).toEqual(["mine"]);
});

test("numbers that a new owner gives again count", async () => {
  await receives(20, published());
  await answers(whole(25));
  await receives(21, published());
  await answers(whole(21));
  await receives(22, placed(ME, "mine"));
  expect(stakes).toEqual(["mine"]);
});

test("the answer of a former owner is asked for again", async () => {
  await receives(20, published());
  await answers(whole(15, ["old"]));
  expect(stakes).toEqual([]);
  await answers(whole(20, ["mine"]));
  expect(stakes).toEqual(["mine"]);
});

test("a platform that does not answer delays events by a limit, and is asked so often", async () => {
  await receives(11, published());
  await receives(12, { betting_closed: { round_id: "french.1" } });
  expect(table.snapshot.value?.phase).toBe("PHASE_BETTING");
  for (let read = 1; read <= READS_LIMIT; read++) {
    expect(platform.calls).toHaveLength(read);
    await vi.advanceTimersByTimeAsync(HELD_MS);
    expect(table.snapshot.value?.phase).toBe("PHASE_CLOSED");
  }
  expect(platform.calls).toHaveLength(READS_LIMIT);
  await receives(13, placed(OTHER, "theirs"));
  // Too late for the events that have been shown meanwhile.
  await answers(whole(12, ["mine"]));
  expect(stakes).toEqual(["theirs"]);
});

test("a refused read holds nothing back", async () => {
  await receives(11, published());
  await receives(12, placed(OTHER, "theirs"));
  platform.calls.shift()?.reject(new Error("TABLE_ELSEWHERE"));
  await settled();
  expect(stakes).toEqual(["theirs"]);
});

test("a table that was left asks for nothing more", async () => {
  await receives(11, published());
  table.close();
  await vi.advanceTimersByTimeAsync(HELD_MS * READS_LIMIT);
  expect(platform.calls).toHaveLength(1);
});

test("how long the player has played goes by the session clock, wherever the tables' clock is", () => {
  observeServerTime("2026-01-06T20:00:00Z");
  expect(sessionNow() - Date.parse("2026-01-05T20:00:00Z")).toBe(61_500);
});

const notSeated = new Refusal("NOT_SEATED", { table_id: "french" }, "", "Enter the table first.");

test("a session that ended while the connection was lost is shown with its summary", async () => {
  platform.session = { ...platform.session, state: "SESSION_STATE_ENDED" };
  (platform.listener as TableListener).refused(notSeated);
  await settled();
  // The summary waits for no result: none will arrive.
  expect([table.state.value, table.followed.value]).toEqual(["left", false]);
  expect(table.ended.value?.summary).toEqual(platform.summary);
});

test("a refused table is shown as refused while the session runs", async () => {
  (platform.listener as TableListener).refused(notSeated);
  await settled();
  expect([table.state.value, table.refusal.value?.reason]).toEqual(["refused", "NOT_SEATED"]);
});

test("a player whose page closes while they sit down has sat down", async () => {
  const seats: unknown[] = [];
  const hurried = new LiveTable("french", false);
  hurried.onSnapshot((_, own) => seats.push(own));
  hurried.close();
  platform.listener = null;
  answer("TableService.EnterTable", whole(10));
  await settled();
  expect([hurried.state.value, hurried.session.value, hurried.ownSeat.value?.seat]).toEqual([
    "playing",
    platform.session,
    ME,
  ]);
  // Nothing is followed for a page that nobody sees.
  expect([platform.listener, seats]).toEqual([null, []]);
});

test("a table whose seats are given is followed, and nobody enters it", async () => {
  const given = new LiveTable("cup-t1", false, true, true);
  expect(platform.calls.map(({ method }) => method)).toEqual(["TableService.GetTable"]);
  const { table: shown, own_seat } = whole(20);
  answer("TableService.GetTable", { table: { ...shown, table_id: "cup-t1", chips: { seats: [] } }, own_seat });
  await settled();
  expect([given.state.value, given.ownSeat.value?.seat, given.session.value]).toEqual(["playing", ME, null]);
  expect(given.unit.value).toBe("CHIPS");
  expect(table.unit.value).toBe(table.mode.value);
  given.close();
});

test("who has no seat at such a table is told so, and sees the table's game", async () => {
  const given = new LiveTable("cup-t1", false, true, true);
  answer("TableService.GetTable", { table: { ...whole(20).table, table_id: "cup-t1" } });
  await settled();
  expect([given.state.value, given.refusal.value?.reason]).toEqual(["refused", "NOT_SEATED"]);
  expect(given.snapshot.value?.table_id).toBe("cup-t1");
  given.close();
});
