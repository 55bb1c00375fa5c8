// The tournament of a table that is shown; its player is led to another table when they are moved.
import { effect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { call, onOwnView, onResync, requestId } from "../../../../api/platform";
import { goTo } from "../../../../browser/routes";
import { notify } from "../../../../design/overlays/toast";
import { Tournament } from "../details/tournament";
import { tableName, tournamentOf } from "../words/table_name";
import { movedTo } from "./own_seat";
import { playWords } from "./words";

export function useTournament(tableId: string): Tournament {
  const [tournament] = useState(() => new Tournament(tournamentOf(tableId), { call, requestId, onOwnView, onResync }));
  useEffect(() => {
    const ends = [
      tournament.follow(),
      effect(() => {
        const to = movedTo(tournament.own.value, tableId);
        if (!to) return;
        notify(playWords().moved(tableName(to.table_id), to.seat));
        goTo({ page: "table", tableId: to.table_id });
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [tournament, tableId]);
  return tournament;
}
