// Announces a round to screen readers (WCAG 4.1.3): the cards once they lie, and what the player is asked.
import { effect, type ReadonlySignal, type Signal, untracked } from "@preact/signals";
import type { Mode } from "../../../api/messages";
import { sameHand } from "../round/picture";
import { bankText, handText, questionText } from "../words/announcements";
import type { Decisions } from "./decisions";
import type { ShownCards } from "./shown_cards";

/** What the announcer reads of a felt. */
interface ReadFelt {
  cards: ShownCards;
  decisions: Decisions;
  ownPlaces: ReadonlySignal<ReadonlySet<number>>;
  table: { mode: ReadonlySignal<Mode> };
}

/** The returned function stops announcing. */
export function announceRound(felt: ReadFelt, said: Signal<string>): () => void {
  let told = new Map<string, string>();
  return effect(() => {
    const complete = felt.cards.complete.value;
    const question = felt.decisions.question.value;
    if (!complete) return;
    const { hands, bank, playing } = felt.cards.picture.value;
    const own = untracked(() => felt.ownPlaces.value);
    const now = new Map<string, string>();
    if (bank.cards.length) now.set("bank", bankText(bank));
    const several = hands.filter(({ place }) => own.has(place)).length > 1;
    for (const hand of hands) {
      if (own.has(hand.place)) now.set(`${hand.place}.${hand.number}`, handText(hand, several));
    }
    const changed = [...now].filter(([key, text]) => told.get(key) !== text).map(([, text]) => text);
    told = now;
    // The result's plaque announces itself.
    if (question) {
      const hand = question.offer ? null : hands.find((one) => sameHand(one, playing));
      changed.push(questionText(question, hand ?? null, several, felt.table.mode.peek()));
    }
    if (changed.length) said.value = changed.join(" ");
  });
}
