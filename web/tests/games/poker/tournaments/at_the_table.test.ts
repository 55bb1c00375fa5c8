// What a table tells of its tournament, who is away, chips as chips, and where a player goes on who is moved.
import "../../../page";
import { signal } from "@preact/signals";
import { beforeEach, expect, test, vi } from "vitest";
import type { TableSnapshot } from "../../../../src/api/messages";
import { AmountChoice } from "../../../../src/games/poker/amounts/amount_choice";
import { readAmount } from "../../../../src/games/poker/amounts/typed_amount";
import type { OwnTournament, TournamentNotice } from "../../../../src/games/poker/messages/messages";
import { tablePicture } from "../../../../src/games/poker/round/table_picture";
import { clockOf, heldText, noticeOf, saidOf } from "../../../../src/games/poker/tournaments/table/notice_text";
import { movedTo, shownOwn } from "../../../../src/games/poker/tournaments/table/own_seat";
import { TournamentAtTable } from "../../../../src/games/poker/tournaments/table/own_tournament";
import { tournamentOf } from "../../../../src/games/poker/tournaments/words/table_name";
import { tableAmount } from "../../../../src/games/poker/words/amounts";
import { blindsAt, limitsText, regulationOf } from "../../../../src/games/poker/words/limits";
import { unitOf } from "../../../../src/games/poker/words/round_unit";
import { applyEvent } from "../../../../src/table/live/apply_event";
import { language } from "../../../../src/words/language";
import { amount } from "../../../../src/words/money";
import { own, player, rules } from "./summaries";

const NOW = Date.parse("2026-11-20T20:00:00Z");

function notice(changed: Partial<TournamentNotice> = {}): TournamentNotice {
  return {
    "@type": "type.googleapis.com/feltro.poker.v1.TournamentNotice",
    level: 3,
    small_blind: "25",
    big_blind: "50",
    level_ends_at: "2026-11-20T20:05:00Z",
    next_small_blind: "50",
    next_big_blind: "100",
    hand_for_hand: false,
    last_lap: false,
    players_left: 12,
    average_chips: "4500",
    paid_places: 3,
    ...changed,
  };
}

function table(held = "", changed: Partial<TournamentNotice> = {}): TableSnapshot {
  return {
    seats: [],
    configuration: { seats: 3, regulation: "810/2015", rules: rules({ regulation: "811/2015" }), mode: "MODE_REAL" },
    chips: {
      seats: [
        { seat: 1, chips: "1500", away: false, disconnected: false },
        { seat: 2, chips: "800", away: true, disconnected: true },
      ],
      held,
      notice: notice(changed),
    },
  } as never;
}

function plain(text: string): string {
  return text.replaceAll("\u00a0", " ");
}

beforeEach(() => {
  language.value = "pt";
});

test("the clock is the level's, or the break's, or none in the last level", () => {
  expect(clockOf(notice(), NOW)).toEqual({ kind: "level", seconds: 300 });
  const { level_ends_at: _, ...rest } = notice({ break_until: "2026-11-20T20:01:30Z" });
  expect(clockOf(rest, NOW)).toEqual({ kind: "break", seconds: 90 });
  expect(clockOf(rest, NOW + 3_600_000)).toEqual({ kind: "break", seconds: 0 });
  const { break_until: __, ...last } = rest;
  expect(clockOf(last, NOW)).toBeNull();
});

test("what is announced changes with the level and the kind of play, and not with the time", () => {
  expect(saidOf(notice())).toBe("Nível 3, blinds 25 / 50.");
  expect(saidOf(notice({ level_ends_at: "2026-11-20T20:04:00Z" }))).toBe(saidOf(notice()));
  expect(saidOf(notice({ hand_for_hand: true }))).toContain("mão a mão");
  expect(saidOf(notice({ last_lap: true }))).toContain("última volta");
  expect(saidOf(notice({ break_until: "2026-11-20T20:01:30Z" }))).toContain("Intervalo");
});

test("a table that waits says why", () => {
  expect(heldText(table())).toBe("");
  expect(heldText(table("break"))).toBe("Intervalo");
  expect(heldText(table("hand_for_hand"))).toContain("mão a mão");
  expect(heldText(table("something_new"))).toBe("A próxima jogada vai começar");
  expect(noticeOf(null)).toBeNull();
});

test("seats have their chips, and who is away is marked (810/2015:26)", () => {
  const { seats } = tablePicture(table(), null, { seat: 1, cards: [] }, 2);
  expect(
    seats.map(({ taken, cave_cents, standing, disconnected }) => [taken, cave_cents, standing, disconnected]),
  ).toEqual([
    [true, 1500, "CAVE_STANDING_PLAYING", false],
    [true, 800, "CAVE_STANDING_AWAY", true],
    [false, 0, "CAVE_STANDING_UNSPECIFIED", false],
  ]);
});

test("chips follow the table's events, and a hand is dealt with no round before it", () => {
  const before = { ...table(), seq: "1", round: undefined } as never as TableSnapshot;
  const chips = { seats: [], held: "break" };
  const after = applyEvent(before, { seq: "2", chips_changed: { chips } } as never);
  expect(after.chips).toEqual(chips);
  const dealt = applyEvent(after, { seq: "3", round_dealt: { round_id: "sunday-t1.1", view: {} } } as never);
  expect(dealt).toMatchObject({ phase: "PHASE_PLAYING", round: { round_id: "sunday-t1.1" } });
});

test("chips are counted, and are no money in any language", () => {
  expect(plain(amount(1500, "CHIPS"))).toBe("1 500 fichas");
  expect(plain(tableAmount(12500, "CHIPS"))).toBe("12 500");
  expect(amount(1, "CHIPS")).toBe("1 ficha");
  language.value = "en";
  expect(amount(1500, "CHIPS")).toBe("1,500 chips");
});

test("a raise is typed in whole chips", () => {
  const range = { minimum_cents: 100, maximum_cents: 1500 };
  expect(readAmount("300", "pt", range, 1)).toEqual({ cents: 300, problem: null });
  expect(readAmount("1.500 fichas", "pt", range, 1)).toEqual({ cents: 1500, problem: null });
  expect(readAmount("300,5", "pt", range, 1)).toEqual({ cents: null, problem: "unreadable" });
  expect(readAmount("99", "pt", range, 1)).toEqual({ cents: null, problem: "below" });
  const choice = new AmountChoice(range, 50, 100, 1);
  expect([choice.text.value, choice.cents.value]).toEqual(["100", 100]);
  choice.move(1);
  expect([choice.text.value, choice.cents.value]).toEqual(["150", 150]);
});

test("blinds are those of the level, and the kind of hands is the tournament's", () => {
  expect(blindsAt(table())).toEqual({ small: 25, big: 50 });
  const { configuration } = table();
  if (!configuration) throw new Error("no configuration");
  expect(regulationOf(configuration)).toBe("811/2015");
  expect(limitsText(configuration)).toBe("Omaha sem limite");
});

test("past hands of tournaments are in chips", () => {
  expect(unitOf({ regulation: "810/2015", mode: "MODE_REAL" })).toBe("CHIPS");
  expect(unitOf({ regulation: "806/2015", mode: "MODE_REAL" })).toBe("MODE_REAL");
});

test("a player who is moved goes on at the other table, and nobody else does", () => {
  const at = (table_id: string, more = {}) =>
    own({ entry: player({ standing: "ENTRY_STANDING_PLAYING", table_id, seat: 5, ...more }) });
  expect(movedTo(at("sunday-t2"), "sunday-t1")).toEqual({ table_id: "sunday-t2", seat: 5 });
  expect(movedTo(at("sunday-t1"), "sunday-t1")).toBeNull();
  expect(movedTo(at("", { standing: "ENTRY_STANDING_OUT" }), "sunday-t1")).toBeNull();
  expect(movedTo(at("sunday-t2", { rank_final: true }), "sunday-t1")).toBeNull();
  expect(movedTo(null, "sunday-t1")).toBeNull();
  expect(tournamentOf("sunday-t12")).toBe("sunday");
});

test("while a hand of the player is on the screen, nothing says how it has ended", () => {
  const rebuy = { prize_cents: "1000", fee_cents: "100", bounty_cents: "0" };
  const before = own({ entry: player({ standing: "ENTRY_STANDING_PLAYING", rank: 2, chips: "1500" }) });
  const richer = own({ entry: player({ standing: "ENTRY_STANDING_PLAYING", rank: 1, chips: "3000" }), rebuy });
  expect(shownOwn(richer, before, true)).toEqual({ ...richer, entry: before.entry });
  const asked = own({ entry: player({ standing: "ENTRY_STANDING_ASKED_TO_REBUY" }), rebuy });
  expect(shownOwn(asked, before, true)).toBe(before);
  expect(shownOwn(asked, before, false)).toBe(asked);
  expect(shownOwn(asked, null, true)).toBe(asked);
});

test("a player who is moved is led there once the hand has been shown", () => {
  const told = signal<OwnTournament | null>(null);
  const tournament = { own: told, follow: () => () => undefined };
  const at = new TournamentAtTable(tournament as never, "sunday-t1");
  const moved = vi.fn();
  const end = at.follow(moved);
  const sits = (table_id: string) => own({ entry: player({ standing: "ENTRY_STANDING_PLAYING", table_id, seat: 5 }) });
  told.value = sits("sunday-t1");
  at.inHand.value = true;
  told.value = sits("sunday-t2");
  expect(moved).not.toHaveBeenCalled();
  at.inHand.value = false;
  expect(moved).toHaveBeenCalledExactlyOnceWith({ table_id: "sunday-t2", seat: 5 });
  end();
});
