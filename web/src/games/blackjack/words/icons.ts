// Blackjack's pictograms: paths on the grid of `design/icon`.

/** Two cards: starting the deal. */
export const CARDS_ICON = "M4 7.5l8-2.5 4 12.5-8 2.5zM13 5.5h7v13h-4M8.2 10.5l1 3";
