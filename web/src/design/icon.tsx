// The frame's pictograms, drawn on a grid of 24.

const PATHS = {
  close: "M6 6l12 12M18 6L6 18",
  sound: "M4 9.5v5h3.5L12 19V5L7.5 9.5H4zM15.5 9a4 4 0 0 1 0 6M18 6.5a7.5 7.5 0 0 1 0 11",
  mute: "M4 9.5v5h3.5L12 19V5L7.5 9.5H4zM16 9.5l5 5M21 9.5l-5 5",
  rules: "M6 4h9l3 3v13H6zM9 11h6M9 14.5h6M9 8h3",
  history: "M4 12a8 8 0 1 0 2.6-5.9M4 4v4h4M12 8v4.5l3 2",
  last: "M4 5v14M20 6l-11 6 11 6z",
  undo: "M8 5L4 9l4 4M4 9h9a6 6 0 0 1 0 12h-3",
  clear: "M5 7h14M9.5 7V4.5h5V7M7 7l1 13h8l1-13",
  repeat: "M5 12a6 6 0 0 1 6-6h8M16 3l3 3-3 3M19 12a6 6 0 0 1-6 6H5M8 21l-3-3 3-3",
  leave: "M14 4H5v16h9M10 12h10M17 8.5l3.5 3.5-3.5 3.5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5c1-4 4-6 7.5-6s6.500 2 7.500 6",
  clock: "M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17zM12 8v4.500l3 1.800",
  warning: "M12 4l9.500 16.500h-19zM12 10v5M12 17.500v.5",
  complaint: "M4 5h16v11H9l-5 4zM12 8v3.500M12 13.200v.3",
  back: "M15 5l-7 7 7 7",
  table: "M3 6h18v12H3zM9 6v12M15 6v12M3 12h18",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  menu: "M4.500 7h15M4.500 12h15M4.500 17h15",
  check: "M5 12.5l4.500 4.500L19 7.500",
  next: "M9 5l7 7-7 7",
  people:
    "M9 11.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 19.500c.7-3.300 3.200-5 6.500-5s5.800 1.700 6.500 5M16 5a3.300 3.300 0 0 1 0 6.300M18.500 15c1.600.8 2.600 2.300 3 4.500",
  money: "M3 7h18v11H3zM12 15a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM6 10v.01M18 15v.01",
  play: "M8 5.500v13l10.500-6.500z",
} as const;

export type IconName = keyof typeof PATHS;

/** A pictogram beside words, or within a control that has a name: it says nothing by itself. */
export function Icon({ name }: { name: IconName }) {
  return <Pictogram path={PATHS[name]} />;
}

/** A pictogram that is not one of the frame's own. */
export function Pictogram({ path }: { path: string }) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}
