// The players of a tournament: who is registered, the ranking while it is played, and the results with what they were paid.
import { useEffect } from "preact/hooks";
import type { Mode } from "../../../../api/messages";
import { amount, cents } from "../../../../words/money";
import type { TournamentPlayer, TournamentSummary } from "../../messages/messages";
import { countText } from "../words/counts";
import { placeOf } from "../words/places";
import { tableName } from "../words/table_name";
import { tournamentWords } from "../words/words";
import { PLAYERS_SHOWN, type Tournament } from "./tournament";

interface Props {
  tournament: Tournament;
  summary: TournamentSummary;
}

export function PlayerTable({ tournament, summary }: Props) {
  const words = tournamentWords().players;
  const players = tournament.players.value;
  useEffect(() => {
    if (tournament.players.peek() === null) void tournament.showPlayers();
  }, [tournament]);
  if (!players) return <p role="status">{tournamentWords().loading}</p>;
  if (players.length === 0) return <p data-testid="no-players">{words.nobody}</p>;
  const mode = summary.configuration?.mode ?? "MODE_REAL";
  const begun = summary.started_at !== undefined;
  const over = summary.phase === "TOURNAMENT_PHASE_FINISHED";
  return (
    <>
      <table class="tournament-table figures" data-testid="players">
        <caption>{over ? words.results : words.caption}</caption>
        <thead>
          <tr>
            {begun && <th scope="col">{words.place}</th>}
            <th scope="col">{words.player}</th>
            {begun && !over && <th scope="col">{words.chips}</th>}
            {begun && <th scope="col">{over ? words.prize : words.seat}</th>}
          </tr>
        </thead>
        <tbody>
          {players.map((player) => (
            <PlayerLine key={player.entry_no} player={player} mode={mode} begun={begun} over={over} />
          ))}
        </tbody>
      </table>
      {tournament.morePlayers.value && (
        <button type="button" class="button" onClick={() => void tournament.showPlayers()} data-testid="more-players">
          {words.more} ({PLAYERS_SHOWN})
        </button>
      )}
    </>
  );
}

interface LineProps {
  player: TournamentPlayer;
  mode: Mode;
  begun: boolean;
  over: boolean;
}

function PlayerLine({ player, mode, begun, over }: LineProps) {
  const words = tournamentWords().players;
  const { entry_no, own, away, reentry } = player;
  const marks = [own && words.you, reentry && words.reentry, away && words.away].filter(Boolean).join(", ");
  return (
    <tr class={own ? "tournament-own-line" : ""} data-testid={`player-${entry_no}`} data-away={away}>
      {begun && (
        <td class={player.rank_final ? "" : "quiet"} data-testid="place">
          {placeOf(player)}
        </td>
      )}
      <th scope="row">
        {words.name(entry_no)}
        {marks && <span class="quiet"> ({marks})</span>}
      </th>
      {begun && !over && <td>{player.standing === "ENTRY_STANDING_PLAYING" ? countText(player.chips) : ""}</td>}
      {begun && (
        <td>{over || player.rank_final ? paidText(player, mode) || standingText(player) : standingText(player)}</td>
      )}
    </tr>
  );
}

function paidText({ prize_cents, bounties_cents, prize_ticket_cents }: TournamentPlayer, mode: Mode): string {
  const words = tournamentWords().players;
  const [prize, bounties, ticket] = [cents(prize_cents), cents(bounties_cents), cents(prize_ticket_cents)];
  const won = [ticket > 0 && words.ticket(amount(ticket, mode)), prize > 0 && amount(prize, mode)].filter(Boolean);
  return [won.join(" + "), bounties > 0 && words.bounties(amount(bounties, mode))].filter(Boolean).join(" ");
}

function standingText(player: TournamentPlayer): string {
  const words = tournamentWords().players;
  switch (player.standing) {
    case "ENTRY_STANDING_PLAYING":
      return player.table_id ? words.at(tableName(player.table_id), player.seat) : "";
    case "ENTRY_STANDING_ASKED_TO_REBUY":
      return words.asked;
    case "ENTRY_STANDING_OUT":
      return words.out;
    case "ENTRY_STANDING_WITHDRAWN":
      return words.withdrawn;
    default:
      return words.registered;
  }
}
