// The specific rules of a tournament in sentences: entering, taking it back, more chips, how it ends (810/2015:23, 810/2015:24).
import type { Mode } from "../../../../api/messages";
import { durationInWords } from "../../../../words/times";
import type { TournamentRules } from "../../messages/messages";
import { countText } from "../words/counts";
import { priceText } from "../words/prices";
import { tournamentWords } from "../words/words";

export function notesOf(rules: TournamentRules, mode: Mode): string[] {
  const words = tournamentWords().structure;
  const notes = [
    rules.cancel_until_seconds > 0
      ? words.unregister(durationInWords(rules.cancel_until_seconds))
      : words.unregisterStart,
  ];
  const late = rules.late_reg_until_level ?? 0;
  if (late > 0) notes.push(words.late(late));
  if (rules.reentries_max > 0) notes.push(words.reentries(rules.reentries_max, rules.reentry_until_level));
  if (rules.rebuys_max > 0) {
    const price = priceText(rules.rebuy_price ?? rules.price, mode);
    notes.push(
      words.rebuys(
        rules.rebuys_max,
        rules.rebuy_until_level,
        price,
        countText(rules.rebuy_chips || rules.starting_stack),
      ),
    );
  }
  if (rules.addons_max > 0) {
    notes.push(words.addons(rules.addon_after_level, priceText(rules.addon_price, mode), countText(rules.addon_chips)));
  }
  if (rules.hand_for_hand_from > 0) notes.push(words.handForHand(rules.hand_for_hand_from));
  if (rules.timed_minutes > 0) notes.push(words.timed(rules.timed_minutes));
  if (rules.satellite) notes.push(words.satellite);
  if (rules.satellite_stops_early) notes.push(words.stopsEarly);
  return notes;
}
