// Who may import whom, checked by `npm run lint` (dependency-cruiser). A room is a folder of `src`.
//
// The frame is everything outside `src/games/`. It knows games only through `src/game_interface/`; `src/games.ts` lists
// them, and `src/main.tsx` hands that list over.
const FRAME = "^src/(?!games/|games\\.ts$|main\\.tsx$)";

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    {
      name: "frame-imports-no-game",
      comment: "The frame serves every game: what one game needs of it goes through src/game_interface.",
      severity: "error",
      from: { path: FRAME },
      to: { path: "^src/games(/|\\.ts$)" },
    },
    {
      name: "games-know-no-other-game",
      comment: "A game can be added or taken away without touching another.",
      severity: "error",
      from: { path: "^src/games/([^/]+)/" },
      to: { path: "^src/games/", pathNot: "^src/games/$1/" },
    },
    {
      name: "games-use-no-page-of-the-frame",
      comment: "These pages show games; a game that imported one would show itself.",
      severity: "error",
      from: { path: "^src/games/" },
      to: { path: "^src/(app|lobby|account|table/page|table/notices|games\\.ts$|main\\.tsx$)" },
    },
    {
      name: "list-of-games-names-only-entries",
      comment: "Everything but a game's entry is fetched later, so that the first page stays small.",
      severity: "error",
      from: { path: "^src/games\\.ts$" },
      to: { path: "^src/games/", pathNot: "^src/games/[^/]+/entry\\.ts$" },
    },
    {
      name: "rooms-are-acyclic",
      comment: "Two rooms that need each other are one room, or something of them belongs in a third.",
      severity: "error",
      scope: "folder",
      from: {},
      to: { circular: true },
    },
    {
      name: "files-are-acyclic",
      comment: "A cycle of files is read by nobody from the beginning.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "imports-resolve",
      comment: "A file that is not there.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "source-imports-no-test",
      comment: "Tests are no part of the page.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^tests/" },
    },
    {
      name: "every-file-is-used",
      comment: "A file that nobody imports is not shown to anybody.",
      severity: "error",
      from: { orphan: true, pathNot: "\\.d\\.ts$" },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // Types bind rooms as much as values do.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
  },
};
