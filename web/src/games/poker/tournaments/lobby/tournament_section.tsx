// The tournaments in the lobby; nothing while there are none.
import { useEffect, useState } from "preact/hooks";
import type { Mode } from "../../../../api/messages";
import { balances, call, identity } from "../../../../api/platform";
import { tournamentWords } from "../words/words";
import { OwnTickets } from "./own_tickets";
import { TicketList } from "./ticket_list";
import { TournamentCard } from "./tournament_card";
import { READ_AGAIN_MS, TournamentList } from "./tournament_list";
import "./tournament_section.css";

export function TournamentSection({ mode }: { mode: Mode }) {
  return <Section key={mode} mode={mode} />;
}

function Section({ mode }: { mode: Mode }) {
  const words = tournamentWords();
  const [list] = useState(() => new TournamentList(mode, { call }));
  const [tickets] = useState(() => new OwnTickets({ call }));
  const asPlayer = identity.value.kind !== "nobody";
  const account = asPlayer ? balances.value[mode]?.account_id : undefined;
  useEffect(() => {
    const read = () => {
      void list.read(asPlayer);
      void tickets.read(account);
    };
    read();
    const again = setInterval(read, READ_AGAIN_MS);
    return () => clearInterval(again);
  }, [list, tickets, asPlayer, account]);
  const listed = list.listed.value;
  if (!listed || listed.open.length + listed.ended.length === 0) return null;
  return (
    <section class="tournaments" aria-labelledby="tournaments" data-testid="tournaments">
      <h2 id="tournaments">{words.heading}</h2>
      <TicketList tickets={tickets.open.value} tournaments={listed.open} mode={mode} />
      <ul class="tournaments-list">
        {listed.open.map((each) => (
          <TournamentCard key={each.tournament_id} tournament={each} mine={listed.mine.has(each.tournament_id)} />
        ))}
      </ul>
      {listed.ended.length > 0 && (
        <details class="tournaments-ended" data-testid="ended-tournaments">
          <summary>{words.ended}</summary>
          <ul class="tournaments-list">
            {listed.ended.map((each) => (
              <TournamentCard key={each.tournament_id} tournament={each} mine={listed.mine.has(each.tournament_id)} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
