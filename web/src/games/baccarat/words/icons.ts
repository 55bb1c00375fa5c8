// Baccarat's pictograms: paths on the grid of `design/icon`.

/** Two cards, one upon the other: dealing. */
export const DEAL_ICON = "M4.5 6.5l8-2.500 4 12.500-8 2.500zM12.500 4h6.500a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-6.500";
