// Layouts for the tests of baccarat, with the regulation's own multiples.
import type { Layout, SpecificRules } from "../../../src/games/baccarat/layout/messages";

export function layoutOf(changed: Partial<SpecificRules> = {}): Layout {
  const rules: SpecificRules = {
    packs: 8,
    places: 7,
    minimum_cents: "100",
    maxima: [],
    without_pairs: false,
    commission: "COMMISSION_FIVE_PERCENT",
    half_scores: [],
    macau: false,
    prize_cap_cents: "0",
    player_maximum_cents: "0",
    cut_card: 0,
    ...changed,
  };
  const minimum = Number(rules.minimum_cents);
  const chance = (place: string, times: number, prize: number, step = 1) => ({
    place,
    minimum_cents: rules.minimum_cents,
    maximum_cents: rules.macau ? "0" : String(times * minimum),
    prize,
    step_cents: String(step),
  });
  const pairs = rules.without_pairs ? [] : [chance("ponto-pair", 8, 11), chance("banca-pair", 8, 11)];
  return { chances: [chance("ponto", 70, 1), chance("banca", 70, 1, 20), chance("tie", 15, 8), ...pairs], rules };
}
