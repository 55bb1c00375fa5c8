// A past round: the cards of the bank and of the player's hands, every decision and on whose word it was made, every stake with
// its payout (805/2015:31). The frame adds the effect on the balance, as for every game.
import type { PlayerRound } from "../../../api/messages";
import { cardsText } from "../../../cards/card_names";
import { PlayingCard } from "../../../cards/playing_card";
import { type PastBetRow, PastBetsTable } from "../../../rounds/past_bets_table";
import { dictionary } from "../../../words/language";
import { amount } from "../../../words/money";
import { timeOfDay } from "../../../words/times";
import type { BankHand, Hand } from "../messages/messages";
import { handResult, type StakeName } from "../round/hand_results";
import { pictureOfOutcome } from "../round/picture";
import { decisionText } from "../words/decision_words";
import { handVerdictText } from "../words/result_words";
import { bankScoreLabel, bankScoreSaid, scoreLabel, scoreSaid } from "../words/scores";
import { type PastDecision, type PastStake, pastHands } from "./past_hands";
import "../layout/colours.css";
import "./past_round.css";

const pastRoundWords = dictionary(
  {
    bank: "Banca",
    place: (place: number) => `Lugar ${place}`,
    hand: (place: number, hand: number) => `Lugar ${place}, mão ${hand}`,
    cards: (cards: string, score: string) => `${cards}; ${score}`,
    noCards: "Não chegaram a ser dadas cartas.",
    decisions: "Decisões",
    noDecisions: "Não houve nada a decidir.",
    insured: (sum: string) => `seguro de ${sum}`,
    by: {
      ACTED_BY_UNSPECIFIED: "",
      ACTED_BY_PLAYER: "por si",
      ACTED_BY_CLOCK: "pelo relógio: o tempo acabou",
      ACTED_BY_AWAY: "pela plataforma: já não estava à mesa",
      ACTED_BY_INSTRUCTION: "por instrução sua",
      ACTED_BY_PLATFORM: "pela plataforma",
    },
    kinds: {
      bet: () => "Aposta",
      split: (hand: number) => `Mão ${hand}, desdobrada`,
      double: (hand: number) => `Dobro da mão ${hand}`,
      insurance: () => "Seguro",
    } satisfies Record<StakeName["kind"], (hand: number) => string>,
  },
  {
    bank: "Bank",
    place: (place: number) => `Place ${place}`,
    hand: (place: number, hand: number) => `Place ${place}, hand ${hand}`,
    cards: (cards: string, score: string) => `${cards}; ${score}`,
    noCards: "No cards were dealt.",
    decisions: "Decisions",
    noDecisions: "There was nothing to decide.",
    insured: (sum: string) => `insurance of ${sum}`,
    by: {
      ACTED_BY_UNSPECIFIED: "",
      ACTED_BY_PLAYER: "by you",
      ACTED_BY_CLOCK: "by the clock: the time was over",
      ACTED_BY_AWAY: "by the platform: you had left the table",
      ACTED_BY_INSTRUCTION: "by your instruction",
      ACTED_BY_PLATFORM: "by the platform",
    },
    kinds: {
      bet: () => "Bet",
      split: (hand: number) => `Hand ${hand}, from a split`,
      double: (hand: number) => `Double of hand ${hand}`,
      insurance: () => "Insurance",
    },
  },
);

export function PastRound({ round }: { round: PlayerRound }) {
  const words = pastRoundWords();
  const { outcome, hands, stakes, decisions } = pastHands(round);
  const { bank } = pictureOfOutcome(outcome ?? undefined);
  return (
    <div class="past-blackjack" data-testid="round-told">
      {outcome ? (
        <div class="past-felt">
          <PastCards name={words.bank} hand={bank} score={bankScoreLabel(bank)} said={bankScoreSaid(bank)} />
          {hands.map((hand) => {
            const result = handResult(outcome, hand);
            return (
              <PastCards
                key={`${hand.place}.${hand.number}`}
                name={handName(hand, hands)}
                hand={hand}
                score={scoreLabel(hand)}
                said={scoreSaid(hand)}
                verdict={handVerdictText(result.verdict)}
                won={result.payout_cents > result.staked_cents}
              />
            );
          })}
        </div>
      ) : (
        round.round?.state === "ROUND_STATE_VOID" && <p>{words.noCards}</p>
      )}
      {outcome && <Decisions decisions={decisions} round={round} />}
      <PastBetsTable round={round} rows={rowsOf(stakes)} className="past-stakes" />
    </div>
  );
}

interface PastCardsProps {
  name: string;
  hand: Pick<BankHand, "cards">;
  score: string;
  said: string;
  verdict?: string;
  won?: boolean;
}

function PastCards({ name, hand, score, said, verdict, won = false }: PastCardsProps) {
  return (
    <figure class="past-hand">
      <figcaption>
        <strong>{name}</strong>
        <span class="past-score figures" aria-hidden="true">
          {score}
        </span>
        {verdict && <span class={won ? "past-verdict won" : "past-verdict"}>{verdict}</span>}
      </figcaption>
      <div
        class="past-cards"
        role="img"
        aria-label={pastRoundWords().cards(cardsText(hand.cards), said)}
        data-cards={hand.cards.join(" ")}
      >
        {hand.cards.map((card, at) => (
          <PlayingCard key={at} silent name={card} />
        ))}
      </div>
    </figure>
  );
}

function handName(hand: Hand, hands: readonly Hand[]): string {
  const words = pastRoundWords();
  const several = hands.filter(({ place }) => place === hand.place).length > 1;
  return several ? words.hand(hand.place, hand.number) : words.place(hand.place);
}

function Decisions({ decisions, round }: { decisions: readonly PastDecision[]; round: PlayerRound }) {
  const words = pastRoundWords();
  const places = new Set(decisions.map(({ place }) => place));
  return (
    <section class="past-decisions" data-testid="told-decisions">
      <h4>{words.decisions}</h4>
      {decisions.length === 0 ? (
        <p class="quiet">{words.noDecisions}</p>
      ) : (
        <ol>
          {decisions.map(({ position, place, decision, insurance_cents, acted_by, made_at }) => (
            <li key={position} data-decision={decision} data-acted-by={acted_by}>
              <span class="quiet figures">{timeOfDay(made_at)}</span>
              <span>
                {places.size > 1 && `${words.place(place)}: `}
                <strong>{decisionText(decision).made}</strong>
                {insurance_cents > 0 && ` (${words.insured(amount(insurance_cents, round.mode))})`}
              </span>
              <span class="quiet">{words.by[acted_by]}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function rowsOf(stakes: readonly PastStake[]): PastBetRow[] {
  const words = pastRoundWords();
  const severalPlaces = new Set(stakes.map(({ place }) => place)).size > 1;
  return stakes.map(({ name, place, kind, hand, staked, payout }) => ({
    key: name,
    name: `${severalPlaces ? `${words.place(place)}: ` : ""}${words.kinds[kind](hand)}`,
    staked,
    payout,
    won: Boolean(payout),
  }));
}
