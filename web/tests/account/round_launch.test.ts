// A ball that the platform launched for an absent player is told as such, and why; any other is not mentioned.
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { PlayerRound } from "../../src/api/messages";

vi.mock("../../src/api/platform", () => ({}));
vi.mock("../../src/games", () => ({ GAMES: {} }));

const round = (launch?: string) => ({ round: { launch } }) as unknown as PlayerRound;

describe("on whose word the ball was launched", () => {
  let told: typeof import("../../src/account/round_launch");
  let language: typeof import("../../src/words/language");

  beforeAll(async () => {
    vi.stubGlobal("document", { documentElement: {} });
    told = await import("../../src/account/round_launch");
    language = await import("../../src/words/language");
  });

  it.each([
    ["LAUNCH_BY_PLATFORM_SESSION_ENDED", "pt", /^A bola foi lançada pela plataforma, porque a sua sessão terminou/],
    ["LAUNCH_BY_PLATFORM_TABLE_HANDED_OVER", "pt", /^A bola foi lançada pela plataforma, porque a mesa/],
    ["LAUNCH_BY_PLATFORM_SESSION_ENDED", "en", /^The platform launched the ball, because your session ended/],
    ["LAUNCH_BY_PLATFORM_TABLE_HANDED_OVER", "en", /^The platform launched the ball, because the table/],
  ] as const)("%s in %s", (launch, spoken, words) => {
    language.language.value = spoken;
    expect(told.platformLaunchInWords(round(launch))).toMatch(words);
  });

  it.each([["LAUNCH_BY_PLAYER"], ["LAUNCH_BY_CLOCK"], ["LAUNCH_UNSPECIFIED"], [undefined]])("%s", (launch) => {
    expect(told.platformLaunchInWords(round(launch))).toBeNull();
  });
});
