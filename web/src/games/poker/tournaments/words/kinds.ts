// What kind of tournament it is, by its specific rules.
import { cents } from "../../../../words/money";
import type { TournamentRules } from "../../messages/messages";
import { totalOf } from "./price_total";

export type Kind =
  | "sitAndGo"
  | "freezeout"
  | "rebuy"
  | "addon"
  | "reentry"
  | "bounty"
  | "freeroll"
  | "guaranteed"
  | "timed"
  | "satellite";

/** All that apply, in the order in which they are named. */
export function kindsOf(rules: TournamentRules): Kind[] {
  const freeroll = totalOf(rules.price) === 0;
  const applies: Record<Kind, boolean> = {
    sitAndGo: rules.start === "TOURNAMENT_START_ON_FULL",
    freezeout: rules.rebuys_max + rules.addons_max + rules.reentries_max === 0,
    rebuy: rules.rebuys_max > 0,
    addon: rules.addons_max > 0,
    reentry: rules.reentries_max > 0,
    bounty: cents(rules.price?.bounty_cents) > 0,
    freeroll,
    // The operator funds the prizes of a free tournament: that is no promise beyond them.
    guaranteed: cents(rules.guarantee_cents) > 0 && !freeroll,
    timed: rules.timed_minutes > 0,
    satellite: rules.satellite !== undefined,
  };
  return (Object.keys(applies) as Kind[]).filter((kind) => applies[kind]);
}
