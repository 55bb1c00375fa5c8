// The player's best combination, as the regulation ranks them (806/2015:29 to 32, 811/2015:26).
import "../../../page";
import { expect, test } from "vitest";
import { bestHand } from "../../../../src/games/poker/round/best_hand";

function best(personal: string, board: string) {
  const hand = bestHand(personal.split(" "), board ? board.split(" ") : []);
  return hand && `${hand.combination.replace("COMBINATION_", "")} ${hand.cards.join(" ")}`;
}

test.each([
  ["As Ks", "Qs Js Ts 2d 3d", "ROYAL_FLUSH As Ks Qs Js Ts"],
  ["9s Ks", "Qs Js Ts 2d 3d", "STRAIGHT_FLUSH Ks Qs Js Ts 9s"],
  ["As 2s", "3s 4s 5s Kd Kh", "STRAIGHT_FLUSH 5s 4s 3s 2s As"],
  ["7c 7d", "7h 7s Kd 2d 3d", "FOUR_OF_A_KIND 7c 7d 7h 7s Kd"],
  ["Kc Kd", "Kh 9s 9d 2d 3c", "FULL_HOUSE Kc Kd Kh 9s 9d"],
  ["Kc 9c", "Kh 9s 9d Kd 3c", "FULL_HOUSE Kc Kh Kd 9c 9s"],
  ["Ac 9c", "2c 5c Jc Kd Kh", "FLUSH Ac Jc 9c 5c 2c"],
  ["Ac 2d", "3h 4s 5c Kd Kh", "STRAIGHT 5c 4s 3h 2d Ac"],
  ["Ac Kd", "Qh Js Tc 2d 2h", "STRAIGHT Ac Kd Qh Js Tc"],
  ["Qc Qd", "Qh 2s 7c 9d Kh", "THREE_OF_A_KIND Qc Qd Qh Kh 9d"],
  ["Ac 9d", "Ah 9s 7c 7d Kh", "TWO_PAIR Ac Ah 9d 9s Kh"],
  ["Ac Ad", "2h 5s 7c 9d Kh", "PAIR Ac Ad Kh 9d 7c"],
  ["Ac Jd", "2h 5s 7c 9d Kh", "HIGH_CARD Ac Kh Jd 9d 7c"],
])("%s with %s", (personal, board, expected) => {
  expect(best(personal, board)).toBe(expected);
});

test("in Omaha two personal cards count, and three common ones", () => {
  // Four aces in the hand are a pair; five spades on the board are no flush without two in the hand.
  expect(best("As Ah Ad Ac", "Kh Qd 7c 5d 2h")).toBe("PAIR As Ah Kh Qd 7c");
  expect(best("As Kd Qd Jd", "2s 3s 5s 8s 9s")).toMatch(/^HIGH_CARD/);
  expect(best("As Js Qd Jd", "2s 3s 5s 8d 9d")).toBe("FLUSH As Js 5s 3s 2s");
});

test("there is none before the flop, nor of cards that are not known", () => {
  expect(best("As Ad", "")).toBeNull();
  expect(bestHand(["", ""], ["2s", "3s", "4s"])).toBeNull();
});
