// Results in words: of a hand, of an insurance, of a round.
import type { Mode } from "../../../api/messages";
import { dictionary } from "../../../words/language";
import { amount, type Cents } from "../../../words/money";
import { type HandVerdict, verdict } from "../round/hand_results";

const resultWords = dictionary(
  {
    hands: {
      blackjack: "Blackjack, paga 3 para 2",
      even_money: "Recebeu já 1 para 1",
      won: "Ganhou",
      special: "Prémio especial",
      tie: "Empate",
      lost: "Perdeu",
      bust: "Passou",
      given_up: "Desistiu",
      stands: "Ficou",
      plays: "",
    } satisfies Record<HandVerdict, string>,
    won: (more: string) => `Ganhou ${more}`,
    even: "Recuperou o que apostou",
    lost: (less: string) => `Perdeu ${less}`,
    unstaked: "Sem apostas nesta jogada",
    back: (payout: string, staked: string) => `Recebe ${payout}; apostou ${staked}`,
    nothing: (staked: string) => `Apostou ${staked}`,
    insuranceWon: (prize: string) => `Seguro: ganhou ${prize}`,
    insuranceLost: (staked: string) => `Seguro: perdeu ${staked}`,
  },
  {
    hands: {
      blackjack: "Blackjack, pays 3 to 2",
      even_money: "Paid 1 to 1 at once",
      won: "Won",
      special: "Special prize",
      tie: "Tie",
      lost: "Lost",
      bust: "Bust",
      given_up: "Gave up",
      stands: "Stands",
      plays: "",
    },
    won: (more: string) => `You won ${more}`,
    even: "Your stake came back",
    lost: (less: string) => `You lost ${less}`,
    unstaked: "You had no bets in this round",
    back: (payout: string, staked: string) => `${payout} back; you staked ${staked}`,
    nothing: (staked: string) => `You staked ${staked}`,
    insuranceWon: (prize: string) => `Insurance: won ${prize}`,
    insuranceLost: (staked: string) => `Insurance: lost ${staked}`,
  },
);

/** `Passou`, `Empate`, `Blackjack, paga 3 para 2`. */
export function handVerdictText(result: HandVerdict): string {
  return resultWords().hands[result];
}

/** `Ganhou 30,00 €`: all stakes of a player together. */
export function roundResultText(staked: Cents, payout: Cents, mode: Mode): string {
  const words = resultWords();
  const result = verdict(staked, payout);
  if (result === "unstaked") return words.unstaked;
  if (result === "even") return words.even;
  const difference = amount(Math.abs(payout - staked), mode);
  return result === "won" ? words.won(difference) : words.lost(difference);
}

/** `Recebe 60,00 €; apostou 30,00 €`. */
export function roundDetailText(staked: Cents, payout: Cents, mode: Mode): string {
  const words = resultWords();
  if (staked === 0) return "";
  return payout ? words.back(amount(payout, mode), amount(staked, mode)) : words.nothing(amount(staked, mode));
}

export function insuranceText(staked: Cents, payout: Cents, mode: Mode): string {
  const words = resultWords();
  return payout ? words.insuranceWon(amount(payout - staked, mode)) : words.insuranceLost(amount(staked, mode));
}
