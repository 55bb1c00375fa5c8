// The platform's own reasons in the player's language. Any other reason is in an operator's words, and stays as it is.
import type { LocalizedText } from "../api/messages";
import { inLanguage } from "./language";

/** As the platform writes them; some are followed by what a program reported. */
const FAULT = "a fault of the platform";
const SOURCE_FAILED = "the source of randomness failed its health test";
const EMPTIED = "no bet was left";
const SWITCH_UNKNOWN = "It is not known yet whether all games are switched off.";

const PLATFORM_REASONS: readonly [begins: string, words: LocalizedText][] = [
  [FAULT, { pt: "falha técnica da plataforma", en: FAULT }],
  [SOURCE_FAILED, { pt: "o gerador de números aleatórios não passou o seu teste de funcionamento", en: SOURCE_FAILED }],
  [EMPTIED, { pt: "todas as apostas foram retiradas", en: EMPTIED }],
  [
    SWITCH_UNKNOWN,
    {
      pt: "ainda não sabemos se todos os jogos estão encerrados",
      en: "it is not known yet whether all games are closed",
    },
  ],
];

export function reasonText(reason: string): string {
  const given = PLATFORM_REASONS.find(([begins]) => reason.startsWith(begins));
  return given ? inLanguage(given[1]) : reason;
}

/** Why a round is void; a round whose bets were all taken back is no error, and has its game's own words. */
export function voidText(
  { reason, phrase }: { reason: string; phrase?: LocalizedText | undefined },
  emptied: LocalizedText | undefined,
): LocalizedText | undefined {
  return reason === EMPTIED ? emptied : phrase;
}
