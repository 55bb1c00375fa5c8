// The words of a player's result.
import { dictionary } from "../words/language";

export const resultWords = dictionary(
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
