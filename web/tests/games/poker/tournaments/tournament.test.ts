// A tournament's commands act once, their refusals are told, and what concerns the player is read again at once.
import "../../../page";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Refusal } from "../../../../src/api/refusal";
import { Tournament } from "../../../../src/games/poker/tournaments/details/tournament";
import { OwnTickets } from "../../../../src/games/poker/tournaments/lobby/own_tickets";
import { TournamentList } from "../../../../src/games/poker/tournaments/lobby/tournament_list";
import { language } from "../../../../src/words/language";
import { own, player, summary } from "./summaries";

type Answer = (params: Record<string, unknown>) => object;

let answers: Record<string, Answer>;
let told: (what: object) => void;
const call = vi.fn(async (method: string, params: Record<string, unknown>) => answers[method]?.(params) ?? {});
let tournament: Tournament;

function asked(method: string): Record<string, unknown>[] {
  return call.mock.calls.filter(([name]) => name === `TournamentService.${method}`).map(([, params]) => params);
}

beforeEach(() => {
  language.value = "pt";
  vi.useFakeTimers();
  call.mockClear();
  answers = {
    "TournamentService.GetTournament": () => ({ tournament: summary(), own: own() }),
    "TournamentService.Register": () => ({ entry: player() }),
  };
  let ids = 0;
  tournament = new Tournament("sunday", {
    call,
    requestId: () => `request-${++ids}`,
    onOwnView: (listener: (own: object) => void) => {
      told = listener;
      return () => undefined;
    },
    onResync: () => () => undefined,
  } as never);
});

afterEach(() => {
  vi.useRealTimers();
});

test("registering is sent once, and the tournament is read after it", async () => {
  const [first, second] = await Promise.all([tournament.register(), tournament.register()]);
  expect([first, second]).toEqual([true, false]);
  expect(asked("Register")).toEqual([{ tournament_id: "sunday", request_id: "request-1" }]);
  await vi.waitFor(() => expect(tournament.own.value?.entry?.standing).toBe("ENTRY_STANDING_REGISTERED"));
  expect(tournament.refused.value).toBe("");
});

test("a command without an answer is sent again with its own id, and never another one", async () => {
  answers["TournamentService.Register"] = () => {
    throw new Refusal("UNAVAILABLE", {}, "", "");
  };
  expect(await tournament.register()).toBe(false);
  answers["TournamentService.Register"] = () => ({ entry: player() });
  expect(await tournament.register()).toBe(true);
  expect(asked("Register").map(({ request_id }) => request_id)).toEqual(["request-1", "request-1"]);
  await tournament.register();
  expect(asked("Register").at(-1)?.["request_id"]).toBe("request-2");
});

test("a ticket is named when the player chooses it, and another choice is another command", async () => {
  answers["TournamentService.Register"] = () => {
    throw new Refusal("UNAVAILABLE", {}, "", "");
  };
  await tournament.register("t-1");
  answers["TournamentService.Register"] = () => ({ entry: player({ by_ticket: true }) });
  await tournament.register("t-1");
  await tournament.register();
  expect(asked("Register")).toEqual([
    { tournament_id: "sunday", request_id: "request-1", ticket_id: "t-1" },
    { tournament_id: "sunday", request_id: "request-1", ticket_id: "t-1" },
    { tournament_id: "sunday", request_id: "request-2" },
  ]);
});

test("the tickets of an account are read, and nobody has any without one", async () => {
  answers["TicketService.ListTickets"] = () => ({ tickets: [{ ticket_id: "t-1" }] });
  const tickets = new OwnTickets({ call } as never);
  await tickets.read("account");
  expect(tickets.open.value).toHaveLength(1);
  answers["TicketService.ListTickets"] = () => {
    throw new Refusal("UNAVAILABLE", {}, "", "");
  };
  await tickets.read("account");
  expect(tickets.open.value).toHaveLength(1);
  await tickets.read(undefined);
  expect(tickets.open.value).toHaveLength(0);
});

test("a refusal is told in words, and the next command is another one", async () => {
  answers["TournamentService.Register"] = () => {
    throw new Refusal("INSUFFICIENT_FUNDS", { free_cents: "150", needed_cents: "1100" }, "", "");
  };
  await tournament.register();
  expect(tournament.refused.value).toBe("O saldo não chega para este preço. Nada lhe foi cobrado.");
  await tournament.register();
  expect(asked("Register").map(({ request_id }) => request_id)).toEqual(["request-1", "request-2"]);
});

test("a price that came back because it was too late is told", async () => {
  answers["TournamentService.Register"] = () => ({ entry: player({ standing: "ENTRY_STANDING_WITHDRAWN" }) });
  await tournament.register();
  expect(tournament.givenBack.value).toBe(true);
  answers["TournamentService.Rebuy"] = () => ({ given_back: true });
  await tournament.rebuy();
  expect(tournament.givenBack.value).toBe(true);
  answers["TournamentService.Rebuy"] = () => ({ given_back: false });
  await tournament.rebuy();
  expect(tournament.givenBack.value).toBe(false);
});

test("what concerns the player alone is read at once, and of no other tournament", async () => {
  const end = tournament.follow();
  await vi.waitFor(() => expect(tournament.summary.value).not.toBeNull());
  expect(asked("GetTournament")).toHaveLength(1);
  told({ table_id: "sunday", notice: { event: "OWN_TOURNAMENT_EVENT_RANKED" } });
  expect(asked("GetTournament")).toHaveLength(2);
  told({ table_id: "monday", notice: {} });
  told({ table_id: "sunday" });
  expect(asked("GetTournament")).toHaveLength(2);
  end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked("GetTournament")).toHaveLength(2);
});

test("an older answer than the last is ignored", async () => {
  let answer: (late: object) => void = () => undefined;
  const slow = new Promise<object>((resolve) => {
    answer = resolve;
  });
  answers["TournamentService.GetTournament"] = () => slow;
  const first = tournament.read();
  answers["TournamentService.GetTournament"] = () => ({ tournament: summary({ entries: 9 }) });
  await tournament.read();
  answer({ tournament: summary({ entries: 1 }) });
  await first;
  expect(tournament.summary.value?.entries).toBe(9);
});

test("a tournament that cannot be read says why, and one that was read stays", async () => {
  answers["TournamentService.GetTournament"] = () => {
    throw new Refusal("TOURNAMENT_UNKNOWN", {}, "", "");
  };
  await tournament.read();
  expect(tournament.failure.value?.reason).toBe("TOURNAMENT_UNKNOWN");
  answers["TournamentService.GetTournament"] = () => ({ tournament: summary() });
  await tournament.read();
  answers["TournamentService.GetTournament"] = () => {
    throw new Refusal("UNAVAILABLE", {}, "", "");
  };
  await tournament.read();
  expect(tournament.failure.value).toBeNull();
  expect(tournament.summary.value).not.toBeNull();
});

test("players are read page by page, as many as are wanted", async () => {
  const entries = Array.from({ length: 130 }, (_, at) => player({ entry_no: at + 1 }));
  answers["TournamentService.ListTournamentPlayers"] = ({ page_size, page_token }) => {
    const from = Number(page_token ?? 0);
    const until = from + Math.min(60, Number(page_size));
    return { players: entries.slice(from, until), next_page_token: until < entries.length ? String(until) : "" };
  };
  await tournament.showPlayers();
  expect(tournament.players.value).toHaveLength(100);
  expect(tournament.morePlayers.value).toBe(true);
  await tournament.showPlayers();
  expect(tournament.players.value).toHaveLength(130);
  expect(tournament.morePlayers.value).toBe(false);
});

test("the list has what can be entered first, the next to start before the others, and marks the player's own", async () => {
  const of = (tournament_id: string, starts_at: string, open_to_entries = true) =>
    summary({ tournament_id, open_to_entries }, { starts_at });
  answers["TournamentService.ListTournaments"] = ({ phase, mine }) => ({
    tournaments: mine
      ? [of("late", "2026-11-21T20:00:00Z")]
      : phase === "TOURNAMENT_PHASE_REGISTERING"
        ? [of("late", "2026-11-21T20:00:00Z"), of("soon", "2026-11-20T20:00:00Z")]
        : phase === "TOURNAMENT_PHASE_RUNNING"
          ? [of("running", "2026-11-19T20:00:00Z", false)]
          : [],
  });
  const list = new TournamentList("MODE_REAL", { call } as never);
  await list.read(true);
  expect(list.listed.value?.open.map(({ tournament_id }) => tournament_id)).toEqual(["soon", "late", "running"]);
  expect([...(list.listed.value?.mine ?? [])]).toEqual(["late"]);
  expect(asked("ListTournaments").every(({ mode }) => mode === "MODE_REAL")).toBe(true);
});

test("a platform that does not answer leaves the list as it was", async () => {
  answers["TournamentService.ListTournaments"] = () => {
    throw new Refusal("NOT_OFFERED", {}, "", "");
  };
  const list = new TournamentList("MODE_REAL", { call } as never);
  await list.read(false);
  expect(list.listed.value).toBeNull();
  expect(asked("ListTournaments").some(({ mine }) => mine)).toBe(false);
});
