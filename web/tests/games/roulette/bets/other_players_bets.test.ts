// One mark per place, however many players have bet there, and one drawing per frame.
import "../../../page";
import { beforeEach, expect, test } from "vitest";
import { sumBets } from "../../../../src/bets/bets";
import { OtherPlayersBets } from "../../../../src/games/roulette/bets/other_players_bets";

let frames: (() => void)[];
let others: OtherPlayersBets;

beforeEach(() => {
  frames = [];
  others = new OtherPlayersBets((then) => frames.push(then));
});

function frame(): void {
  for (const then of frames.splice(0)) then();
}

test("counts players and amounts by place", () => {
  others.placed(1, sumBets([["17", 100]]));
  others.placed(
    2,
    sumBets([
      ["17", 500],
      ["red", 200],
    ]),
  );
  others.placed(1, sumBets([["17", 100]]));
  frame();
  expect(others.marks.value).toEqual(
    new Map([
      ["17", { players: 2, cents: 700 }],
      ["red", { players: 1, cents: 200 }],
    ]),
  );
  others.takenBack(
    2,
    sumBets([
      ["17", 500],
      ["red", 200],
    ]),
  );
  frame();
  expect(others.marks.value).toEqual(new Map([["17", { players: 1, cents: 200 }]]));
});

test("draws the bets of 200 players within a frame once", () => {
  let drawn = 0;
  others.marks.subscribe(() => {
    drawn += 1;
  });
  for (let seat = 1; seat <= 200; seat += 1) others.placed(seat, sumBets([["17", 100]]));
  expect(frames).toHaveLength(1);
  frame();
  expect(drawn).toBe(2);
  expect(others.marks.value.get("17")).toEqual({ players: 200, cents: 20_000 });
});

test("keeps the object of an unchanged mark", () => {
  others.placed(1, sumBets([["17", 100]]));
  frame();
  const before = others.marks.value.get("17");
  others.placed(2, sumBets([["red", 100]]));
  frame();
  expect(others.marks.value.get("17")).toBe(before);
});

test("one player's bets can be replaced", () => {
  others.placed(1, sumBets([["17", 100]]));
  others.placed(2, sumBets([["17", 500]]));
  frame();
  others.clearSeat(1);
  others.placed(1, sumBets([["red", 100]]));
  frame();
  expect(others.marks.value).toEqual(
    new Map([
      ["17", { players: 1, cents: 500 }],
      ["red", { players: 1, cents: 100 }],
    ]),
  );
});

test("a snapshot replaces everything, without the player's own seat", () => {
  others.placed(1, sumBets([["17", 100]]));
  others.reset(
    [
      { seat: 3, staked_cents: "100", bets: { "@type": "x", bets: [{ place: "red", amount_cents: "100" }] } },
      { seat: 4, staked_cents: "100", bets: { "@type": "x", bets: [{ place: "black", amount_cents: "100" }] } },
    ] as never,
    4,
  );
  frame();
  expect([...others.marks.value.keys()]).toEqual(["red"]);
});
