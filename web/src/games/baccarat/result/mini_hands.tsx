// Both hands in small, each with its score; the additional card lies across here too.
import { PlayingCard } from "../../../cards/playing_card";
import type { Outcome } from "../layout/messages";
import { handText, SIDES, sideName, winnerSide } from "../words/outcomes";
import "./mini_hands.css";

export function MiniHands({ outcome }: { outcome: Outcome }) {
  return (
    <span class="mini-hands">
      {SIDES.map((side) => {
        const score = side === "ponto" ? outcome.ponto_score : outcome.banca_score;
        const won = winnerSide(outcome.winner) === side;
        return (
          <span key={side} class={won ? `mini-hand mini-${side} mini-won` : `mini-hand mini-${side}`}>
            <span class="unseen">{handText(side, outcome[side], score)}</span>
            <span class="mini-name" aria-hidden="true">
              {sideName(side)} <b class="figures">{score}</b>
            </span>
            <span class="mini-cards" aria-hidden="true">
              {outcome[side].map((card, index) => (
                <span key={index} class={index === 2 ? "mini-card mini-third" : "mini-card"}>
                  <PlayingCard name={card} silent />
                </span>
              ))}
            </span>
          </span>
        );
      })}
    </span>
  );
}
