// The words of the tabs of tables.
import { dictionary } from "../../words/language";

export const tabWords = dictionary(
  {
    tables: "As suas mesas",
    turn: "é a sua vez",
    turnAt: (names: string) => `É a sua vez: ${names}`,
    notice: "precisa de si",
    noticeAt: (names: string) => `Precisa de si: ${names}`,
    more: "Outra mesa",
    ended: (name: string) => `A sua sessão terminou: ${name}. O resumo está na sua conta.`,
  },
  {
    tables: "Your tables",
    turn: "your turn",
    turnAt: (names: string) => `Your turn: ${names}`,
    notice: "needs you",
    noticeAt: (names: string) => `Needs you: ${names}`,
    more: "Another table",
    ended: (name: string) => `Your session has ended: ${name}. Its summary is in your account.`,
  },
);
