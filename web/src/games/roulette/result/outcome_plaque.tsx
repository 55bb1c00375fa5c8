// The plaque with the drawn number and the player's result. A payout below the stake is no win, and not called one.
import type { Any, Mode } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents } from "../../../words/money";
import { colourClass, drawnNumber, numberQualities } from "../words/outcomes";
import "./outcome_plaque.css";

interface Props {
  /** A `feltro.roulette.v1.Outcome`; null while there is none to show. */
  outcome: Any | null;
  /** The player's stakes; 0 if there were none. */
  staked_cents: Cents;
  /** The payout, the stakes of winning bets included. */
  payout_cents: Cents;
  /** The prizes of the winning bets, where they are known. */
  prize_cents?: Cents;
  mode: Mode;
}

const outcomePlaqueWords = dictionary(
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

/** How a round went for a player, all bets together. */
export function verdict(staked: Cents, payout: Cents): Verdict {
  if (staked === 0) return "unstaked";
  if (payout === 0) return "lost";
  if (payout < staked) return "less";
  return payout === staked ? "even" : "won";
}

/** `Ganhou 30,00 €`. */
export function resultText(staked: Cents, payout: Cents, mode: Mode): string {
  const words = outcomePlaqueWords();
  const result = verdict(staked, payout);
  if (result === "unstaked") return words.unstaked;
  if (result === "even") return words.even;
  const difference = amount(Math.abs(payout - staked), mode);
  return result === "won" ? words.won(difference) : result === "less" ? words.less(difference) : words.lost(difference);
}

export function OutcomePlaque({ outcome, staked_cents, payout_cents, prize_cents, mode }: Props) {
  const number = drawnNumber(outcome);
  const result = verdict(staked_cents, payout_cents);
  return (
    // Always in the page, so that screen readers announce its content.
    <div class="outcome-called" role="status" data-testid="outcome-called" data-verdict={number ? result : undefined}>
      {number && (
        <div class={`outcome-plaque outcome-${result}`} key={number}>
          <strong class={`outcome-number figures ${colourClass(number)}`}>{number}</strong>
          <span class="outcome-qualities">{numberQualities(number)}</span>
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
  const words = outcomePlaqueWords();
  const amountText = (value: Cents) => amount(value, mode);
  if (result === "unstaked") return <span class="outcome-detail">{words.unstaked}</span>;
  const back = prize
    ? words.prize(amountText(payout), amountText(prize), amountText(staked))
    : words.back(amountText(payout), amountText(staked));
  return (
    <span class="outcome-result figures">
      <span class="outcome-headline" data-testid="outcome-result">
        {resultText(staked, payout, mode)}
      </span>
      <span class="outcome-detail">{result === "lost" ? words.nothing : back}</span>
    </span>
  );
}
