// The tournament of a table that is shown; its player is led to another table when they are moved (810/2015:48).
import { useEffect, useState } from "preact/hooks";
import { call, onOwnView, onResync, requestId } from "../../../../api/platform";
import { goTo } from "../../../../browser/routes";
import { notify } from "../../../../design/overlays/toast";
import { Tournament } from "../details/tournament";
import { tableName, tournamentOf } from "../words/table_name";
import { TournamentAtTable } from "./own_tournament";
import { playWords } from "./words";

export function useTournament(tableId: string): TournamentAtTable {
  const [at] = useState(
    () =>
      new TournamentAtTable(new Tournament(tournamentOf(tableId), { call, requestId, onOwnView, onResync }), tableId),
  );
  useEffect(
    () =>
      at.follow((to) => {
        notify(playWords().moved(tableName(to.table_id), to.seat));
        goTo({ page: "table", tableId: to.table_id });
      }),
    [at],
  );
  return at;
}
