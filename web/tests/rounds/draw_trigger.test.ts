// A round that the platform started for an absent player says so, and why; any other says nothing.
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { PlayerRound } from "../../src/api/messages";
import { drawTriggerText } from "../../src/rounds/draw_trigger";

const round = (draw_trigger?: string) => ({ round: { draw_trigger } }) as unknown as PlayerRound;

describe("why the platform started a round", () => {
  let roulette: typeof import("../../src/games/roulette/entry").roulette;
  let language: typeof import("../../src/words/language").language;

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    ({ roulette } = await import("../../src/games/roulette/entry"));
    ({ language } = await import("../../src/words/language"));
  });

  it.each([
    ["DRAW_TRIGGER_SESSION_ENDED", "pt", /^A bola foi lançada pela plataforma, porque a sua sessão terminou/],
    ["DRAW_TRIGGER_TABLE_HANDED_OVER", "pt", /^A bola foi lançada pela plataforma, porque a mesa/],
    ["DRAW_TRIGGER_SESSION_ENDED", "en", /^The platform launched the ball, because your session ended/],
    ["DRAW_TRIGGER_TABLE_HANDED_OVER", "en", /^The platform launched the ball, because the table/],
  ] as const)("%s in %s", (trigger, spoken, words) => {
    language.value = spoken;
    expect(drawTriggerText(round(trigger), roulette.texts())).toMatch(words);
  });

  it.each([["DRAW_TRIGGER_PLAYER"], ["DRAW_TRIGGER_CLOCK"], ["DRAW_TRIGGER_UNSPECIFIED"], [undefined]])(
    "%s",
    (trigger) => {
      expect(drawTriggerText(round(trigger), roulette.texts())).toBeNull();
    },
  );
});
