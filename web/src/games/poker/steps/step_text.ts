// A moment of a hand in a sentence.
import { cardsText } from "../../../cards/card_names";
import { amount, type Unit } from "../../../words/money";
import type { HandStep } from "./hand_steps";
import { stepWords } from "./words";

export function stepText({ kind, picture, decision }: HandStep, own: number | undefined, mode: Unit): string {
  const words = stepWords();
  const who = (seat: number) => (seat === own ? words.you : words.seat(seat));
  switch (kind) {
    case "blinds":
      return words.blinds;
    case "street":
      return `${words.streets[picture.street]}: ${cardsText(picture.board)}`;
    case "showdown":
      return words.showdown;
    case "paid": {
      const parts = picture.prizes.map(({ seat, net_cents }) => words.paid(who(seat), amount(net_cents, mode)));
      if (picture.commission_cents) parts.push(words.commission(amount(picture.commission_cents, mode)));
      return parts.join(". ");
    }
    case "move": {
      if (!decision) return "";
      const { seat, action, added_cents, to_cents, all_in, acted_by } = decision;
      const figure = amount(action === "ACTION_CALL" ? added_cents : to_cents, mode);
      const notes = [all_in && words.allIn, acted_by === "ACTED_BY_CLOCK" && words.byClock];
      if (acted_by === "ACTED_BY_AWAY") notes.push(words.byPlatform);
      return [words.acted[action](who(seat), figure), ...notes.filter(Boolean)].join(", ");
    }
  }
}
