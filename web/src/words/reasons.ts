// The reasons that the platform itself gives, in the player's language. All others are an operator's own words, and stay.
import type { Words } from "../api/messages";
import { said } from "./language";

/** As the platform writes them; the words of one may go on with what a program reported. */
const FAULT = "a fault of the platform";
const SOURCE_FAILED = "the source of randomness failed its health test";
const EMPTIED = "every bet was taken back";
const NOT_KNOWN = "It is not known yet whether all games are switched off.";

const GIVEN: readonly [begins: string, words: Words][] = [
  [FAULT, { pt: "falha técnica da plataforma", en: FAULT }],
  [SOURCE_FAILED, { pt: "o gerador de números aleatórios não passou o seu teste de funcionamento", en: SOURCE_FAILED }],
  [EMPTIED, { pt: "todas as apostas foram retiradas", en: EMPTIED }],
  [
    NOT_KNOWN,
    {
      pt: "ainda não sabemos se todos os jogos estão encerrados",
      en: "it is not known yet whether all games are closed",
    },
  ],
];

const NOTHING_LEFT: Words = {
  pt: "A bola não foi lançada: as apostas desta jogada foram todas retiradas.",
  en: "The ball was not launched: every bet of this round was taken back.",
};

export function reasonWords(reason: string): string {
  const given = GIVEN.find(([begins]) => reason.startsWith(begins));
  return given ? said(given[1]) : reason;
}

/** Why a round is void: no error where only nothing was left to play for. */
export function voidWords({ reason, words }: { reason: string; words?: Words | undefined }): Words | undefined {
  return reason === EMPTIED ? NOTHING_LEFT : words;
}
