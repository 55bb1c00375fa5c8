// Both sides' cards on the felt: dealt face down from the shoe, turned, an additional card set apart and lying across
// (812/2015:17, 18, 21), with the score beside them.
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Span } from "../../../cards/card_motion";
import { PlayingCard } from "../../../cards/playing_card";
import { cardDealtSound } from "../deal/card_sounds";
import { scoreOf } from "../deal/scores";
import type { Felt } from "../felt/felt";
import { handText, type Side, sideName, winnerSide } from "../words/outcomes";
import { baccaratWords } from "../words/table_words";
import { Shoe } from "./shoe";
import "./hands.css";

export function Hands({ felt }: { felt: Felt }) {
  const shoe = useRef<HTMLDivElement>(null);
  const { stage } = felt.sequence;
  return (
    <section class={`hands hands-${stage.value}`} aria-label={baccaratWords().hands} data-testid="hands">
      <Hand felt={felt} side="ponto" shoe={shoe} />
      <div class="hands-shoe" ref={shoe}>
        <Shoe packs={felt.layout.rules?.packs ?? 8} />
      </div>
      <Hand felt={felt} side="banca" shoe={shoe} />
      <DealAnnouncer felt={felt} />
    </section>
  );
}

interface HandProps {
  felt: Felt;
  side: Side;
  shoe: RefObject<HTMLElement>;
}

function Hand({ felt, side, shoe }: HandProps) {
  const { sequence } = felt;
  const result = sequence.result.value;
  const cards = result?.outcome[side] ?? [];
  const dealt = cards.slice(0, sequence.dealt.value[side]);
  const open = cards.slice(0, sequence.revealed.value[side]);
  const called = sequence.stage.value !== "quiet" && sequence.stage.value !== "dealing";
  const won = called && result !== null && winnerSide(result.outcome.winner) === side;
  return (
    <div
      class={won ? `deal-hand deal-${side} deal-won` : `deal-hand deal-${side}`}
      data-testid={`hand-${side}`}
      data-score={open.length ? scoreOf(open) : undefined}
    >
      <div class="deal-head">
        <h2 class="deal-name">{sideName(side)}</h2>
        <strong class="deal-score figures" aria-hidden="true">
          {open.length ? scoreOf(open) : ""}
        </strong>
      </div>
      <div class="deal-cards" aria-hidden="true">
        {dealt.map((card, index) => (
          <DealtCard
            key={`${result?.round_id} ${index}`}
            name={index < open.length ? card : ""}
            slide={sequence.slide(side, index)}
            shoe={shoe}
            third={index === 2}
          />
        ))}
      </div>
    </div>
  );
}

interface CardProps {
  name: string;
  slide: Span | undefined;
  shoe: RefObject<HTMLElement>;
  third: boolean;
}

function DealtCard({ name, slide, shoe, third }: CardProps) {
  useEffect(() => {
    // One that lay there when the player arrived makes no sound.
    if (slide && slide.until_ms > performance.now()) cardDealtSound();
  }, []);
  return (
    <span class={third ? "deal-card deal-third" : "deal-card"} data-testid="dealt-card" data-third={third}>
      <PlayingCard name={name} dealt={slide} from={shoe} silent />
    </span>
  );
}

/** Tells screen readers each hand as it is turned, and each additional card. */
function DealAnnouncer({ felt }: { felt: Felt }) {
  const { sequence } = felt;
  const { ponto, banca } = sequence.revealed.value;
  const outcome = sequence.result.value?.outcome;
  const dealing = sequence.stage.value === "dealing";
  const told = (side: Side, count: number) => {
    const cards = outcome?.[side].slice(0, count) ?? [];
    return cards.length ? handText(side, cards, scoreOf(cards)) : "";
  };
  // The side that was turned last.
  const text = banca > 2 || (banca === 2 && ponto < 3) ? told("banca", banca) : told("ponto", ponto);
  return (
    <p class="unseen" role="status" data-testid="said-cards">
      {dealing || ponto + banca > 0 ? text : ""}
    </p>
  );
}
