// What is called when the ball lies still, and what it means for the player. A payout below the stake is no win, and is
// not called one.
import type { Any, Mode } from "../../api/messages";
import { dictionary } from "../../words/language";
import { amount, type Cents } from "../../words/money";
import { colourClass, numberOf, qualities } from "./outcome_words";
import "./outcome_called.css";

interface Props {
  /** A `feltro.roulette.v1.Outcome`; null while nothing is to be called. */
  outcome: Any | null;
  /** What the player had on the felt; 0 if nothing. */
  staked_cents: Cents;
  /** What came back, the stakes of the bets that won included. */
  payout_cents: Cents;
  /** The prizes of the bets that won, where they are known. */
  prize_cents?: Cents;
  mode: Mode;
}

const words = dictionary(
  {
    won: (more: string) => `Ganhou ${more}`,
    even: "Recuperou o que apostou",
    less: (less: string) => `Perdeu ${less}`,
    lost: (staked: string) => `Perdeu ${staked}`,
    back: (payout: string, staked: string) => `Recebe ${payout}; apostou ${staked}`,
    prize: (payout: string, prize: string, staked: string) =>
      `Recebe ${payout}, dos quais ${prize} de prémio; apostou ${staked}`,
    nothing: "Nenhuma aposta premiada",
    unstaked: "Sem apostas nesta jogada",
  },
  {
    won: (more: string) => `You won ${more}`,
    even: "Your stake came back",
    less: (less: string) => `You lost ${less}`,
    lost: (staked: string) => `You lost ${staked}`,
    back: (payout: string, staked: string) => `${payout} back; you staked ${staked}`,
    prize: (payout: string, prize: string, staked: string) =>
      `${payout} back, ${prize} of it prize; you staked ${staked}`,
    nothing: "None of your bets won",
    unstaked: "You had no bets in this round",
  },
);

export type Verdict = "unstaked" | "lost" | "less" | "even" | "won";

/** How a round went for a player, all his bets together. */
export function verdict(staked: Cents, payout: Cents): Verdict {
  if (staked === 0) return "unstaked";
  if (payout === 0) return "lost";
  if (payout < staked) return "less";
  return payout === staked ? "even" : "won";
}

/** `Ganhou 30,00 €`. */
export function resultInWords(staked: Cents, payout: Cents, mode: Mode): string {
  const said = words();
  const result = verdict(staked, payout);
  if (result === "unstaked") return said.unstaked;
  if (result === "even") return said.even;
  const difference = amount(Math.abs(payout - staked), mode);
  return result === "won" ? said.won(difference) : result === "less" ? said.less(difference) : said.lost(difference);
}

export function OutcomeCalled({ outcome, staked_cents, payout_cents, prize_cents, mode }: Props) {
  const number = numberOf(outcome);
  const result = verdict(staked_cents, payout_cents);
  return (
    // Always there, so that what comes into it is read out.
    <div class="outcome-called" role="status" data-testid="outcome-called" data-verdict={number ? result : undefined}>
      {number && (
        <div class={`outcome-plaque outcome-${result}`} key={number}>
          <strong class={`outcome-number figures ${colourClass(number)}`}>{number}</strong>
          <span class="outcome-qualities">{qualities(number)}</span>
          <Result
            result={result}
            staked={staked_cents}
            payout={payout_cents}
            {...(prize_cents === undefined ? {} : { prize: prize_cents })}
            mode={mode}
          />
        </div>
      )}
    </div>
  );
}

function Result(props: { result: Verdict; staked: Cents; payout: Cents; prize?: Cents; mode: Mode }) {
  const { result, staked, payout, prize, mode } = props;
  const said = words();
  const told = (value: Cents) => amount(value, mode);
  if (result === "unstaked") return <span class="outcome-detail">{said.unstaked}</span>;
  const back = prize ? said.prize(told(payout), told(prize), told(staked)) : said.back(told(payout), told(staked));
  return (
    <span class="outcome-result figures">
      <span class="outcome-headline" data-testid="outcome-result">
        {resultInWords(staked, payout, mode)}
      </span>
      <span class="outcome-detail">{result === "lost" ? said.nothing : back}</span>
    </span>
  );
}
