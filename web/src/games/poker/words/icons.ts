// Pictograms on the grid of `design/icon`.

/** Two cards, one over the other. */
export const HAND_ICON =
  "M9 4h9a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2M5 6h8a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2Z";
