// One mark per place, however many have bet there, and one drawing per frame.
import "./page";
import { beforeEach, expect, test } from "vitest";
import { sum } from "../../../src/games/roulette/bets";
import { BetsOfOthers } from "../../../src/games/roulette/bets_of_others";

let frames: (() => void)[];
let others: BetsOfOthers;

beforeEach(() => {
  frames = [];
  others = new BetsOfOthers((then) => frames.push(then));
});

function frame(): void {
  for (const then of frames.splice(0)) then();
}

test("players and amounts are counted by place", () => {
  others.placed(1, sum([["17", 100]]));
  others.placed(
    2,
    sum([
      ["17", 500],
      ["red", 200],
    ]),
  );
  others.placed(1, sum([["17", 100]]));
  frame();
  expect(others.marks.value).toEqual(
    new Map([
      ["17", { players: 2, cents: 700 }],
      ["red", { players: 1, cents: 200 }],
    ]),
  );
  others.takenBack(
    2,
    sum([
      ["17", 500],
      ["red", 200],
    ]),
  );
  frame();
  expect(others.marks.value).toEqual(new Map([["17", { players: 1, cents: 200 }]]));
});

test("the bets of 200 players within a frame are drawn once", () => {
  let drawn = 0;
  others.marks.subscribe(() => {
    drawn += 1;
  });
  for (let seat = 1; seat <= 200; seat += 1) others.placed(seat, sum([["17", 100]]));
  expect(frames).toHaveLength(1);
  frame();
  expect(drawn).toBe(2);
  expect(others.marks.value.get("17")).toEqual({ players: 200, cents: 20_000 });
});

test("a mark that nobody has touched is the same object as before", () => {
  others.placed(1, sum([["17", 100]]));
  frame();
  const before = others.marks.value.get("17");
  others.placed(2, sum([["red", 100]]));
  frame();
  expect(others.marks.value.get("17")).toBe(before);
});

test("a picture replaces everything, and leaves the own seat out", () => {
  others.placed(1, sum([["17", 100]]));
  others.picture(
    [
      { seat: 3, staked_cents: "100", bets: { "@type": "x", bets: [{ place: "red", amount_cents: "100" }] } },
      { seat: 4, staked_cents: "100", bets: { "@type": "x", bets: [{ place: "black", amount_cents: "100" }] } },
    ] as never,
    4,
  );
  frame();
  expect([...others.marks.value.keys()]).toEqual(["red"]);
});
