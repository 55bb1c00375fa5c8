// Tournaments as the platform tells them, for tests.
import type {
  OwnTournament,
  TournamentPlayer,
  TournamentRules,
  TournamentSummary,
} from "../../../../src/games/poker/messages/messages";

const PRICE = { prize_cents: "1000", fee_cents: "100", bounty_cents: "0" };

export function rules(changed: Partial<TournamentRules> = {}): TournamentRules {
  return {
    regulation: "806/2015",
    limit: "LIMIT_NO_LIMIT",
    price: PRICE,
    start: "TOURNAMENT_START_SCHEDULED",
    seats: 9,
    min_players: 2,
    max_players: 100,
    starting_stack: 1500,
    levels: [
      { small_blind: 10, big_blind: 20, seconds: 600, break_seconds: 0 },
      { small_blind: 15, big_blind: 30, seconds: 600, break_seconds: 300 },
      { small_blind: 25, big_blind: 50, seconds: 600, break_seconds: 0 },
    ],
    cancel_until_seconds: 0,
    late_reg_until_level: 0,
    reentries_max: 0,
    reentry_until_level: 6,
    rebuys_max: 0,
    rebuy_until_level: 6,
    rebuy_when: "REBUY_WHEN_BUSTED",
    rebuy_chips: 0,
    rebuy_decision_seconds: 30,
    addons_max: 0,
    addon_after_level: 0,
    addon_chips: 0,
    payouts: [],
    guarantee_cents: "0",
    timed_minutes: 0,
    cancel_policy: "CANCEL_POLICY_LITERAL",
    initial_button: "INITIAL_BUTTON_RANDOM",
    decision_time_seconds: 15,
    time_bank_seconds: 30,
    hand_for_hand_from: 0,
    pay_when: "PAY_WHEN_ON_ELIMINATION",
    max_raises_per_turn: 3,
    bet_units: [],
    heads_up_blinds: "HEADS_UP_BLINDS_UNSPECIFIED",
    showdown: "SHOWDOWN_UNSPECIFIED",
    languages: ["pt"],
    approvals: [],
    satellite_stops_early: false,
    freeroll_ticket: "FREEROLL_TICKET_NEW_TICKET",
    replacement_tournament_id: "",
    ...changed,
  };
}

export function summary(
  changed: Partial<TournamentSummary> = {},
  changedRules: Partial<TournamentRules> = {},
): TournamentSummary {
  return {
    tournament_id: "sunday",
    configuration: { name: { pt: "Domingo", en: "Sunday" }, mode: "MODE_REAL", rules: rules(changedRules) },
    phase: "TOURNAMENT_PHASE_REGISTERING",
    entries: 3,
    rebuys: 0,
    addons: 0,
    players_left: 3,
    tables: 0,
    prizes: { pool_cents: "3000", overlay_cents: "0", places_cents: ["3000"], frozen: false, tickets: 0 },
    level: 0,
    on_break: false,
    hand_for_hand: false,
    last_lap: false,
    average_chips: "0",
    open_to_entries: true,
    cancelled_reason: "",
    cancelled_rule: "",
    ...changed,
  };
}

export function player(changed: Partial<TournamentPlayer> = {}): TournamentPlayer {
  return {
    entry_no: 1,
    standing: "ENTRY_STANDING_REGISTERED",
    rank: 0,
    rank_to: 0,
    rank_final: false,
    chips: "0",
    table_id: "",
    seat: 0,
    away: false,
    prize_cents: "0",
    bounties_cents: "0",
    reentry: false,
    rebuys: 0,
    addons: 0,
    own: false,
    player_id: "",
    prize_ticket_cents: "0",
    by_ticket: false,
    ...changed,
  };
}

export function own(changed: Partial<OwnTournament> = {}): OwnTournament {
  return { entry: player({ own: true }), can_unregister: true, tickets: [], ...changed };
}
