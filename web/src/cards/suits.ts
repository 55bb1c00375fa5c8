// The suits as paths around the origin, about 20 units high. Their shapes differ at every size; colour only adds to them.
import type { Suit } from "./card_names";

export const SUIT_PATHS: Readonly<Record<Suit, string>> = {
  s: "M0-10.5C2.5-6 10-2.5 10 3.3C10 6.4 7.7 8.3 5.3 8.3C3.5 8.3 1.9 7.3 1 5.7C1.1 8 1.9 9.7 3.8 11H-3.8C-1.9 9.7-1.1 8-1 5.7C-1.9 7.3-3.5 8.3-5.3 8.3C-7.7 8.3-10 6.4-10 3.3C-10-2.5-2.5-6 0-10.5Z",
  h: "M0 10.5C-3.5 5.5-10 1.8-10-4C-10-7.5-7.5-9.5-4.9-9.5C-2.7-9.5-.9-8.3 0-6.2C.9-8.3 2.7-9.5 4.9-9.5C7.5-9.5 10-7.5 10-4C10 1.8 3.5 5.5 0 10.5Z",
  d: "M0-11.5Q3.5-4.8 8.5 0Q3.5 4.8 0 11.5Q-3.5 4.8-8.5 0Q-3.5-4.8 0-11.5Z",
  c: "M-1.1 3.9A5 5 0 1 1-4.3-2.3A5 5 0 1 1 4.3-2.3A5 5 0 1 1 1.1 3.9C1.2 7.5 2 9.6 4 11H-4C-2 9.6-1.2 7.5-1.1 3.9Z",
};
