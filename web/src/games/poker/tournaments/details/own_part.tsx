// What the player has to do with the tournament: registering, taking it back, the table, the place and what it was paid.
import { enterAsGuest, identity, logIn, operator } from "../../../../api/platform";
import { addressOf } from "../../../../browser/routes";
import { amount, cents } from "../../../../words/money";
import { dateTime } from "../../../../words/times";
import type { TournamentSummary } from "../../messages/messages";
import { priceText } from "../words/prices";
import { tournamentWords } from "../words/words";
import { ownText } from "./own_text";
import { TargetLink } from "./target_link";
import type { Tournament } from "./tournament";

interface Props {
  tournament: Tournament;
  summary: TournamentSummary;
}

export function OwnPart({ tournament, summary }: Props) {
  const words = tournamentWords().own;
  const own = tournament.own.value;
  const mode = summary.configuration?.mode ?? "MODE_REAL";
  const busy = tournament.busy.value;
  const prize = cents(own?.entry?.prize_cents) + cents(own?.entry?.bounties_cents);
  const ticket = cents(own?.entry?.prize_ticket_cents);
  return (
    <section class="tournament-own" aria-labelledby="own-part" data-testid="own-part">
      <h2 id="own-part">{words.heading}</h2>
      <p role="status" data-testid="own-standing">
        {tournament.givenBack.value ? words.tooLate : ownText(own?.entry)}
        {prize > 0 && ` ${words.prize(amount(prize, mode))}`}
        {ticket > 0 && ` ${words.wonTicket(amount(ticket, mode))}`}
      </p>
      {ticket > 0 && <TargetLink summary={summary} />}
      {own?.entry?.table_id && (
        <a
          class="button first"
          href={addressOf({ page: "table", tableId: own.entry.table_id })}
          data-testid="to-tournament-table"
        >
          {words.toTable}
        </a>
      )}
      <Entering tournament={tournament} summary={summary} />
      {own?.can_unregister && (
        <>
          <p class="quiet">
            {own.entry?.by_ticket
              ? words.unregisterTicket
              : summary.decide_by
                ? words.unregisterUntil(dateTime(summary.decide_by))
                : words.unregisterFree}
          </p>
          <button
            type="button"
            class="button"
            aria-disabled={busy}
            onClick={() => !busy && void tournament.unregister()}
            data-testid="unregister"
          >
            {words.unregister}
          </button>
        </>
      )}
      <p class="tournament-refused" role="alert" data-testid="tournament-refused">
        {tournament.refused.value}
      </p>
    </section>
  );
}

/** The button that registers, or what the player has to do before. */
function Entering({ tournament, summary }: Props) {
  const words = tournamentWords().own;
  const { configuration, phase } = summary;
  const own = tournament.own.value;
  const standing = own?.entry?.standing;
  const absent = !own?.entry || standing === "ENTRY_STANDING_WITHDRAWN";
  // A free tournament may have no price at all.
  const price = own?.reentry ?? configuration?.rules?.price;
  const mode = configuration?.mode ?? "MODE_REAL";
  if (!own?.reentry && !(absent && summary.open_to_entries)) {
    const waits = phase === "TOURNAMENT_PHASE_REGISTERING" || phase === "TOURNAMENT_PHASE_RUNNING";
    return absent && waits ? <p class="quiet">{words.closed}</p> : null;
  }
  const demo = mode === "MODE_DEMO";
  if (!demo && identity.value.kind !== "player") {
    return (
      <>
        <p class="quiet">{words.needsLogin}</p>
        {operator.value.login_url && (
          <button type="button" class="button first" onClick={logIn} data-testid="log-in-to-register">
            {words.logIn}
          </button>
        )}
      </>
    );
  }
  const busy = tournament.busy.value;
  const enter = async (ticket_id?: string) => {
    if (busy) return;
    if (demo) await enterAsGuest();
    await tournament.register(ticket_id);
  };
  // One is enough: another one to the same tournament is money already, but for those from freerolls.
  const ticket = own?.tickets[0];
  const text = absent ? (phase === "TOURNAMENT_PHASE_RUNNING" ? words.registerLate : words.register) : words.reenter;
  return (
    <>
      {ticket && (
        <>
          <p class="quiet">{words.hasTicket}</p>
          <button
            type="button"
            class="button first"
            aria-disabled={busy}
            onClick={() => void enter(ticket.ticket_id)}
            data-testid="register-by-ticket"
          >
            {words.registerByTicket(amount(cents(ticket.value_cents), mode))}
          </button>
        </>
      )}
      <p class="quiet">{demo ? words.demo : words.charged}</p>
      <button
        type="button"
        class={ticket ? "button" : "button first"}
        aria-disabled={busy}
        onClick={() => void enter()}
        data-testid="register-tournament"
      >
        {text(priceText(price, mode))}
      </button>
    </>
  );
}
