// Tournaments in words: places that players share, prices, kinds, what a tournament waits for, and its rules in sentences.
import "../../../page";
import { beforeEach, describe, expect, test } from "vitest";
import { ownText } from "../../../../src/games/poker/tournaments/details/own_text";
import { notesOf } from "../../../../src/games/poker/tournaments/details/structure_notes";
import { countText } from "../../../../src/games/poker/tournaments/words/counts";
import { glossary } from "../../../../src/games/poker/tournaments/words/glossary";
import { kindsOf } from "../../../../src/games/poker/tournaments/words/kinds";
import { placeText } from "../../../../src/games/poker/tournaments/words/places";
import { priceParts, priceText } from "../../../../src/games/poker/tournaments/words/prices";
import { stateText } from "../../../../src/games/poker/tournaments/words/state_text";
import { tableName } from "../../../../src/games/poker/tournaments/words/table_name";
import { tournamentWords } from "../../../../src/games/poker/tournaments/words/words";
import { language } from "../../../../src/words/language";
import { player, rules, summary } from "./summaries";

const NOW = Date.parse("2026-11-20T20:00:00Z");

// As browsers write amounts: with a space that does not break.
function plain(text: string): string {
  return text.replaceAll("\u00a0", " ");
}

beforeEach(() => {
  language.value = "pt";
});

test("players who tie share their places", () => {
  expect(placeText(5, 6)).toBe("5.º–6.º");
  expect(placeText(3, 3)).toBe("3.º");
  expect(placeText(0)).toBe("");
  language.value = "en";
  expect(placeText(5, 6)).toBe("5th–6th");
  expect([1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map((place) => placeText(place))).toEqual([
    "1st",
    "2nd",
    "3rd",
    "4th",
    "11th",
    "12th",
    "13th",
    "21st",
    "102nd",
    "111th",
  ]);
});

test("a price is told whole and in its parts", () => {
  const price = { prize_cents: "1000", fee_cents: "100", bounty_cents: "500" };
  expect(plain(priceText(price, "MODE_REAL"))).toBe("16,00 €");
  expect(plain(priceParts(price, "MODE_REAL"))).toBe(
    "10,00 € para prémios + 5,00 € de prémio de eliminação + 1,00 € de comissão",
  );
  expect(plain(priceText(price, "MODE_DEMO"))).toBe("16 créditos");
});

test("a freeroll costs nothing, and has no parts", () => {
  const free = { prize_cents: "0", fee_cents: "0", bounty_cents: "0" };
  expect(priceText(free, "MODE_REAL")).toBe("Gratuito");
  expect(priceParts(free, "MODE_REAL")).toBe("");
  expect(priceText(undefined, "MODE_REAL")).toBe("Gratuito");
});

test("every kind follows from the rules", () => {
  expect(kindsOf(rules())).toEqual(["freezeout"]);
  expect(kindsOf(rules({ start: "TOURNAMENT_START_ON_FULL" }))).toEqual(["sitAndGo", "freezeout"]);
  expect(kindsOf(rules({ rebuys_max: 2, addons_max: 1 }))).toEqual(["rebuy", "addon"]);
  expect(kindsOf(rules({ reentries_max: 1, timed_minutes: 30, guarantee_cents: "5000" }))).toEqual([
    "reentry",
    "guaranteed",
    "timed",
  ]);
  expect(kindsOf(rules({ price: { prize_cents: "500", fee_cents: "0", bounty_cents: "500" } }))).toContain("bounty");
});

test("the prizes of a freeroll are no promise beyond them", () => {
  const free = { prize_cents: "0", fee_cents: "0", bounty_cents: "0" };
  expect(kindsOf(rules({ price: free, guarantee_cents: "5000" }))).toEqual(["freezeout", "freeroll"]);
});

describe("how a tournament stands", () => {
  test("a sit & go says how many players are missing", () => {
    const sitAndGo = { start: "TOURNAMENT_START_ON_FULL", max_players: 4 } as const;
    expect(stateText(summary({ entries: 3 }, sitAndGo), NOW)).toBe("Inscrições abertas · Falta 1 jogador");
    expect(stateText(summary({ entries: 1 }, sitAndGo), NOW)).toBe("Inscrições abertas · Faltam 3 jogadores");
  });

  test("a scheduled one says how long it takes until it starts, within a day", () => {
    const at = (starts_at: string) => stateText(summary({}, { starts_at }), NOW);
    expect(at("2026-11-20T20:10:05Z")).toBe("Inscrições abertas · Começa dentro de 10 min 5 s");
    expect(at("2026-11-20T20:00:00Z")).toBe("Inscrições abertas · Vai começar");
    expect(at("2026-11-25T20:00:00Z")).toBe("Inscrições abertas");
  });

  test("one that is played says its level, and what is special now", () => {
    const running = { phase: "TOURNAMENT_PHASE_RUNNING", level: 4, open_to_entries: false } as const;
    expect(stateText(summary(running), NOW)).toBe("A decorrer, nível 4");
    expect(stateText(summary({ ...running, open_to_entries: true }), NOW)).toBe(
      "A decorrer, nível 4 · Ainda pode entrar",
    );
    expect(stateText(summary({ ...running, on_break: true }), NOW)).toContain("Em intervalo");
    expect(stateText(summary({ ...running, hand_for_hand: true }), NOW)).toContain("Mão a mão");
    expect(stateText(summary({ ...running, last_lap: true }), NOW)).toContain("Última volta");
  });

  test("one that is over says so", () => {
    expect(stateText(summary({ phase: "TOURNAMENT_PHASE_FINISHED" }), NOW)).toBe("Terminado");
    expect(stateText(summary({ phase: "TOURNAMENT_PHASE_CANCELLED" }), NOW)).toBe("Cancelado");
  });
});

test("the rules say until when one may enter, take it back, and buy chips", () => {
  expect(notesOf(rules(), "MODE_REAL")).toEqual(["A inscrição pode ser anulada até ao início."]);
  const all = notesOf(
    rules({
      cancel_until_seconds: 3600,
      late_reg_until_level: 6,
      reentries_max: 2,
      rebuys_max: 1,
      addons_max: 1,
      addon_after_level: 6,
      addon_chips: 3000,
      addon_price: { prize_cents: "500", fee_cents: "0", bounty_cents: "0" },
      hand_for_hand_from: 10,
      timed_minutes: 90,
    }),
    "MODE_REAL",
  ).map(plain);
  expect(all).toEqual([
    "A inscrição pode ser anulada até 1 h 00 min antes do início.",
    "Pode inscrever-se até ao fim do nível 6.",
    "Quem ficar fora pode voltar a entrar 2 vezes, até ao fim do nível 6.",
    "Rebuy: um por entrada, até ao fim do nível 6; 1 500 fichas por 11,00 €.",
    "Add-on: no intervalo depois do nível 6; 3 000 fichas por 5,00 €.",
    "Com 10 jogadores ou menos, joga-se mão a mão.",
    "Ao fim de 90 minutos joga-se a última volta.",
  ]);
});

test("the player's own standing is told in a sentence", () => {
  expect(ownText(undefined)).toBe("");
  expect(ownText(player())).toBe("Está inscrito.");
  const playing = player({ standing: "ENTRY_STANDING_PLAYING", table_id: "sunday-t7", seat: 3, rank: 2, rank_to: 2 });
  expect(ownText(playing)).toBe("Está na mesa 7, lugar 3. Vai em 2.º lugar.");
  expect(ownText({ ...playing, away: true })).toContain("Está ausente");
  expect(ownText({ ...playing, standing: "ENTRY_STANDING_ASKED_TO_REBUY" })).toContain("rebuy");
  const out = player({ standing: "ENTRY_STANDING_OUT", rank: 5, rank_to: 6, rank_final: true });
  expect(ownText(out)).toBe("Foi eliminado. Ficou em 5.º–6.º lugar, empatado.");
  expect(ownText({ ...out, rank_final: false })).toBe("Foi eliminado.");
});

test("an entry by a ticket is told as such, and comes back as a ticket", () => {
  expect(ownText(player({ by_ticket: true }))).toBe("Está inscrito, com o seu bilhete.");
  const back = player({ by_ticket: true, standing: "ENTRY_STANDING_WITHDRAWN" });
  expect(ownText(back)).toContain("pode voltar a usar o bilhete");
  expect(ownText(back)).not.toContain("preço");
});

test("the winner was never eliminated", () => {
  const won = player({ standing: "ENTRY_STANDING_PLAYING", rank: 1, rank_to: 1, rank_final: true });
  expect(ownText(won)).toBe("Ficou em 1.º lugar.");
});

test("chips never look like money", () => {
  for (const spoken of ["pt", "en"] as const) {
    language.value = spoken;
    expect(countText(1234567)).not.toMatch(/€|créd|cred|[,.]\d\d$/);
  }
  language.value = "pt";
  expect(plain(countText(1500))).toBe("1 500");
});

test("a table is known by its number", () => {
  expect(tableName("sunday-t12")).toBe("12");
});

test("every foreign word of the kinds is in the glossary, in both languages", () => {
  for (const spoken of ["pt", "en"] as const) {
    language.value = spoken;
    const words = glossary().map(([word]) => word);
    expect(words).toEqual(expect.arrayContaining(["Rebuy", "Add-on", "Freeroll", "Sit & go", "Sit out", "Blinds"]));
    expect(new Set(words).size).toBe(words.length);
    for (const [, meaning] of glossary()) expect(meaning).toMatch(/.{10}/);
  }
});

test("the kinds of a Portuguese page are Portuguese, or in its glossary", () => {
  const foreign = ["Sit & go", "Rebuy", "Add-on", "Freeroll"];
  const portuguese = [
    "Uma só entrada",
    "Reentrada",
    "Prémio de eliminação",
    "Prémios garantidos",
    "Com tempo limitado",
    "Satélite",
  ];
  expect(Object.values(tournamentWords().kinds).sort()).toEqual([...foreign, ...portuguese].sort());
  expect(glossary().map(([word]) => word)).toEqual(expect.arrayContaining(foreign));
});
