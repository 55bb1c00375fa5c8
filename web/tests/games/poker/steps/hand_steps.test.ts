// Past hands step by step, against what the engine says lay on the table after each decision (806/2015:65).
import "../../../page";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../../src/games/poker/messages/messages";
import type { TablePicture } from "../../../../src/games/poker/round/picture";
import { cardsInFile, fileName } from "../../../../src/games/poker/steps/hand_file";
import { type HandStep, handSteps, type RecordedHand } from "../../../../src/games/poker/steps/hand_steps";
import { stepText } from "../../../../src/games/poker/steps/step_text";
import { commandOfKey, stepAfter } from "../../../../src/games/poker/steps/stepping";
import played from "./hands.json";

type Played = (typeof played)[number];

function recorded(hand: Played, own?: RecordedHand["own"]): RecordedHand {
  return {
    outcome: hand.outcome as unknown as Outcome,
    moves: hand.moves as unknown as RecordedHand["moves"],
    small_blind_cents: 50,
    big_blind_cents: 100,
    seats: 6,
    personal: hand.personal,
    own,
  };
}

function named(name: string): Played {
  const found = played.find((hand) => hand.name === name);
  if (!found) throw new Error(name);
  return found;
}

function lies({ seats, board, total_cents, pots }: TablePicture) {
  const dealt = seats.filter((seat) => seat.dealt);
  return {
    board,
    total_cents,
    caves: Object.fromEntries(dealt.map(({ seat, cave_cents }) => [seat, cave_cents])),
    bets: Object.fromEntries(dealt.map(({ seat, bet_cents }) => [seat, bet_cents])),
    folded: dealt.flatMap(({ seat, folded }) => (folded ? [seat] : [])),
    pots: pots.map(({ cents }) => cents),
  };
}

/** The last moment before each decision, and the one before the comparison: what the decision brought lies there. */
function settledSteps(steps: readonly HandStep[]): HandStep[] {
  return steps.filter(({ kind }, index) => {
    const next = steps[index + 1]?.kind;
    return (kind === "blinds" || kind === "move" || kind === "street") && next !== "street";
  });
}

describe.each(played.map((hand) => [hand.name, hand] as const))("%s", (_, hand) => {
  const steps = handSteps(recorded(hand));

  test("every decision leaves what the platform says lies on the table", () => {
    const found = settledSteps(steps).map(({ picture }) => lies(picture));
    const order = (hand.outcome.view as { seats: { seat: number }[] }).seats.map(({ seat }) => seat);
    const wanted = hand.lies.map(({ caves, bets, ...rest }) => ({
      ...rest,
      caves: Object.fromEntries(order.map((seat, at) => [seat, caves[at]])),
      bets: Object.fromEntries(order.map((seat, at) => [seat, bets[at]])),
    }));
    // The last decision ends the hand, and the platform tells what came of it at once.
    expect(found.slice(0, -1)).toEqual(wanted.slice(0, found.length - 1));
    expect(found.length).toBe(wanted.length);
  });

  test("every cent is in a cave, in a bet, in a pot or in the commission", () => {
    const whole = hand.lies[0];
    const all = (whole?.caves ?? []).reduce((sum, cents) => sum + cents, whole?.total_cents ?? 0);
    for (const { picture } of steps) {
      const caves = picture.seats.reduce((sum, { cave_cents }) => sum + cave_cents, 0);
      expect(caves + picture.total_cents + picture.commission_cents).toBe(all);
    }
  });

  test("ends as the platform says, with the same pots", () => {
    const view = hand.outcome.view as {
      board: string[];
      seats: { seat: number; stack_cents: string }[];
      pots: { cents: string }[];
    };
    const last = steps.at(-1);
    expect(last?.kind).toBe("paid");
    expect(last?.picture.board).toEqual(view.board);
    for (const { seat, stack_cents } of view.seats) {
      expect(last?.picture.seats[seat - 1]?.cave_cents).toBe(Number(stack_cents));
    }
    const compared = steps.find(({ kind }) => kind === "showdown");
    if (compared) expect(lies(compared.picture).pots).toEqual(view.pots.map(({ cents }) => Number(cents)));
  });

  test("no card is shown that was not turned up", () => {
    const shown = new Set((hand.outcome.view as { seats: { cards: string[] }[] }).seats.flatMap(({ cards }) => cards));
    for (const { kind, picture } of steps) {
      const cards = picture.seats.flatMap((seat) => seat.cards).filter(Boolean);
      expect(cards.every((card) => shown.has(card))).toBe(true);
      if (kind !== "showdown" && kind !== "paid") expect(cards).toEqual([]);
    }
  });
});

test("the moments of a hand in their order", () => {
  const steps = handSteps(recorded(named("C-03")));
  expect(steps.map(({ kind }) => kind).join(" ")).toBe(
    "blinds move move move street move move move move street move move street move move move showdown paid",
  );
  expect(steps.filter(({ kind }) => kind === "street").map(({ picture }) => picture.board.length)).toEqual([3, 4, 5]);
});

test("an all-in before the flop: the common cards come one betting round after the other", () => {
  const steps = handSteps(recorded(named("C-26")));
  expect(steps.map(({ kind }) => kind).join(" ")).toBe("blinds move move street street street showdown paid");
});

test("the player's own cards are shown from the beginning, and nobody else's", () => {
  const hand = named("C-03");
  const cards = cardsInFile(hand.phh, 2);
  expect(cards).toEqual(["Ah", "Qs"]);
  const [first] = handSteps(recorded(hand, { seat: 2, cards }));
  expect(first?.picture.seats.map((seat) => seat.cards)).toEqual([["", ""], ["Ah", "Qs"], ["", ""], [], [], []]);
});

test("four personal cards in Omaha", () => {
  expect(handSteps(recorded(named("Omaha")))[0]?.picture.seats[0]?.cards).toEqual(["", "", "", ""]);
});

test("a hand without an outcome has no moments", () => {
  const hand = recorded(named("C-01"));
  expect(handSteps({ ...hand, outcome: { payments: [], results: [] } as never })).toEqual([]);
});

describe("the file", () => {
  const { phh } = named("C-03");

  test("holds the reader's own cards and hides the others", () => {
    expect(cardsInFile(phh, 1)).toEqual([]);
    expect(cardsInFile(phh, 9)).toEqual([]);
    expect(cardsInFile("", 2)).toEqual([]);
    expect(cardsInFile(named("Omaha").phh, 2)).toHaveLength(4);
  });

  test.each([
    ["table-1.42", "table-1.42.phh"],
    ["a:b/../c", "a-b-..-c.phh"],
    ["../x", "x.phh"],
  ])("%s is kept as %s", (round_id, name) => expect(fileName(round_id)).toBe(name));
});

describe("in words", () => {
  const steps = handSteps(recorded(named("C-07")));
  const texts = steps.map((step) => stepText(step, 2, "MODE_REAL").replace(/\u00a0/g, " "));

  test("decisions with their amounts, and the reader as themselves", () => {
    expect(texts[1]).toBe("Lugar 3 subiu a aposta para 3,00 €");
    expect(texts[2]).toBe("Lugar 1 subiu a aposta para 20,00 €, com tudo");
    expect(texts[3]).toBe("Você acompanhou com 19,00 €");
  });

  test("the flop is named with its cards", () => {
    expect(texts.find((text) => text.startsWith("Flop"))).toBe("Flop: 7 de copas, 8 de copas e 9 de paus");
  });

  test("who is paid what, and the commission", () => {
    expect(texts.at(-1)).toBe("Lugar 1 recebe 57,00 €. Você recebe 28,50 €. Comissão: 4,50 €");
  });

  test("why the platform decided", () => {
    const hand = recorded(named("C-02"));
    const [first] = hand.moves;
    const timed = handSteps({ ...hand, moves: first ? [{ ...first, acted_by: "ACTED_BY_CLOCK" }] : [] });
    expect(timed[1] && stepText(timed[1], 1, "MODE_REAL")).toBe("Lugar 3 desistiu, o tempo acabou");
  });
});

test("stepping stays within the list", () => {
  expect(stepAfter(0, "back", 5)).toBe(0);
  expect(stepAfter(0, "next", 5)).toBe(1);
  expect(stepAfter(4, "next", 5)).toBe(4);
  expect(stepAfter(2, "last", 5)).toBe(4);
  expect(stepAfter(2, "first", 5)).toBe(0);
  expect(stepAfter(0, "last", 0)).toBe(0);
  expect(["Home", "ArrowLeft", "ArrowRight", "End", "x"].map(commandOfKey)).toEqual([
    "first",
    "back",
    "next",
    "last",
    null,
  ]);
});
