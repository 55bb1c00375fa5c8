// The words of the frame around every page.
import { dictionary } from "../words/language";

export const appWords = dictionary(
  {
    skip: "Saltar para o conteúdo",
    tables: "Mesas",
    account: "A minha conta",
    pages: "Páginas",
    menu: "Menu",
    lost: "A ligar de novo…",
    lostAtTable: "A ligar de novo… o seu lugar fica guardado",
    complaintAnswered: (reference: string) => `A reclamação ${reference} tem resposta`,
    complaintMoved: (reference: string) => `A reclamação ${reference} avançou`,
    titles: {
      lobby: "Mesas",
      table: "Mesa",
      account: "A minha conta",
    },
    development: "Desenvolvimento",
    foot: "Jogos de mesa regulados, em tempo real.",
    adult: "Só para maiores de 18 anos. Jogue com moderação.",
  },
  {
    skip: "Skip to content",
    tables: "Tables",
    account: "My account",
    pages: "Pages",
    menu: "Menu",
    lost: "Connecting again…",
    lostAtTable: "Connecting again… your seat is kept",
    complaintAnswered: (reference: string) => `Complaint ${reference} has been answered`,
    complaintMoved: (reference: string) => `Complaint ${reference} has moved on`,
    titles: {
      lobby: "Tables",
      table: "Table",
      account: "My account",
    },
    development: "Development",
    foot: "Regulated table games, in real time.",
    adult: "For adults only. Play in moderation.",
  },
);
