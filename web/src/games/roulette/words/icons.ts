// Roulette's pictograms: paths on the grid of `design/icon`.

/** The wheel from above: launching the ball. */
export const WHEEL_ICON =
  "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v5M12 16v5M3 12h5M16 12h5";
