// A past hand of the player's: the common cards, what everybody showed, bet and won, and every decision (806/2015:65).
import type { PlayerRound, TableConfiguration } from "../../../api/messages";
import { cardsText } from "../../../cards/card_names";
import { PlayingCard } from "../../../cards/playing_card";
import { dictionary } from "../../../words/language";
import { amount, cents, signedAmount } from "../../../words/money";
import { timeOfDay } from "../../../words/times";
import { personalCards } from "../felt/poker_felt";
import type { Move, Outcome, SpecificRules, View } from "../messages/messages";
import { HandStepper } from "../steps/hand_stepper";
import { OvalTable } from "../table/oval_table";
import { tableAmount } from "../words/amounts";
import { combinationText } from "../words/combinations";
import { blindsOf } from "../words/limits";
import { unitOf } from "../words/round_unit";
import { pokerWords, potName } from "../words/table_words";
import "../layout/colours.css";
import "./past_round.css";

const pastRoundWords = dictionary(
  {
    none: "Não chegaram a ser dadas cartas.",
    you: "Você",
    board: "Cartas viradas",
    noBoard: "A jogada terminou antes do flop.",
    seat: "Lugar",
    cards: "Cartas",
    hidden: "não mostrou",
    staked: "Apostado",
    won: "Recebido",
    net: "Saldo",
    results: "Resultado por lugar",
    resultsInCredits: "Resultado por lugar, em créditos",
    resultsInChips: "Resultado por lugar, em fichas",
    payments: "Potes",
    payment: (pot: string, seat: number, sum: string) => `${pot}: lugar ${seat}, ${sum}`,
    commission: (sum: string) => `comissão ${sum}`,
    moves: "Decisões",
    raised: (to: string) => `Subiu para ${to}`,
    by: {
      ACTED_BY_UNSPECIFIED: "",
      ACTED_BY_PLAYER: "",
      ACTED_BY_CLOCK: "pelo relógio: o tempo acabou",
      ACTED_BY_AWAY: "pela plataforma: já não estava à mesa",
      ACTED_BY_INSTRUCTION: "por instrução",
      ACTED_BY_PLATFORM: "pela plataforma",
    },
  },
  {
    none: "No cards were dealt.",
    you: "You",
    board: "Common cards",
    noBoard: "The hand ended before the flop.",
    seat: "Seat",
    cards: "Cards",
    hidden: "not shown",
    staked: "Bet",
    won: "Received",
    net: "Net",
    results: "Result by seat",
    resultsInCredits: "Result by seat, in credits",
    resultsInChips: "Result by seat, in chips",
    payments: "Pots",
    payment: (pot: string, seat: number, sum: string) => `${pot}: seat ${seat}, ${sum}`,
    commission: (sum: string) => `commission ${sum}`,
    moves: "Decisions",
    raised: (to: string) => `Raised to ${to}`,
    by: {
      ACTED_BY_UNSPECIFIED: "",
      ACTED_BY_PLAYER: "",
      ACTED_BY_CLOCK: "by the clock: the time was over",
      ACTED_BY_AWAY: "by the platform: had left the table",
      ACTED_BY_INSTRUCTION: "by instruction",
      ACTED_BY_PLATFORM: "by the platform",
    },
  },
);

interface Props {
  round: PlayerRound;
  configuration?: TableConfiguration;
}

export function PastRound({ round, configuration }: Props) {
  const words = pastRoundWords();
  const { small, big } = blindsOf((configuration?.rules ?? {}) as SpecificRules);
  const outcome = round.round?.outcome as Outcome | undefined;
  const view = outcome?.view as View | undefined;
  return (
    <div class="past-poker" data-testid="round-told">
      {outcome && view ? (
        <>
          <Board board={view.board} />
          <HandStepper
            round={round}
            configuration={configuration}
            draw={(picture) => (
              <OvalTable
                scene={{
                  picture,
                  own: ownSeatOf(round),
                  personal: personalOf(round, view),
                  mode: unitOf(round),
                  least: small || big || 1,
                  compared: picture.prizes.length > 0,
                  marked: picture.prizes[0]?.seat ?? null,
                }}
              />
            )}
          />
          <Results round={round} outcome={outcome} view={view} />
          <Payments round={round} outcome={outcome} />
        </>
      ) : (
        round.round?.state === "ROUND_STATE_VOID" && <p>{words.none}</p>
      )}
      {outcome && <Moves round={round} />}
    </div>
  );
}

function Board({ board }: { board: readonly string[] }) {
  const words = pastRoundWords();
  if (board.length === 0) return <p class="quiet">{words.noBoard}</p>;
  return (
    <figure class="past-poker-board">
      <figcaption>{words.board}</figcaption>
      <div class="past-poker-cards" role="img" aria-label={cardsText(board)} data-cards={board.join(" ")}>
        {board.map((card) => (
          <PlayingCard key={card} silent name={card} />
        ))}
      </div>
    </figure>
  );
}

/** A hand as opponents' cards show it, where its round names the regulation of a tournament. */
function personalOf({ regulation }: PlayerRound, { seats }: View): number {
  return Math.max(personalCards(regulation), ...seats.map(({ cards }) => cards.length));
}

/** The seat that the player had: the one their stake names. */
function ownSeatOf(round: PlayerRound): number | undefined {
  return (round.stakes[0]?.bets as { seat?: number } | undefined)?.seat;
}

function Results({ round, outcome, view }: { round: PlayerRound; outcome: Outcome; view: View }) {
  const words = pastRoundWords();
  const sum = (value: number) => tableAmount(value, unitOf(round));
  const own = ownSeatOf(round);
  return (
    <div class="past-poker-results">
      <table class="list" data-testid="told-bets">
        <caption>{captionOf(round)}</caption>
        <thead>
          <tr>
            <th scope="col">{words.seat}</th>
            <th scope="col">{words.cards}</th>
            <th scope="col" class="number">
              {words.staked}
            </th>
            <th scope="col" class="number">
              {words.won}
            </th>
            <th scope="col" class="number">
              {words.net}
            </th>
          </tr>
        </thead>
        <tbody>
          {outcome.results.map(({ seat, staked_cents, won_cents }) => {
            const shown = view.seats.find((each) => each.seat === seat);
            const [staked, won] = [cents(staked_cents), cents(won_cents)];
            return (
              <tr key={seat} class={won > staked ? "past-poker-won" : undefined} data-seat={seat}>
                <th scope="row">{seat === own ? `${seat} · ${words.you}` : seat}</th>
                <td>
                  {shown?.cards.length ? (
                    <span class="past-poker-shown">
                      <span class="past-poker-cards" role="img" aria-label={cardsText(shown.cards)}>
                        {shown.cards.map((card) => (
                          <PlayingCard key={card} silent name={card} />
                        ))}
                      </span>
                      <span>{combinationText(shown.combination, shown.best_cards)}</span>
                    </span>
                  ) : (
                    <span class="quiet">{shown?.folded ? pokerWords().said.ACTION_FOLD : words.hidden}</span>
                  )}
                </td>
                <td class="number">{sum(staked)}</td>
                <td class="number">{sum(won)}</td>
                <td class="number">{signedAmount(won - staked, round.mode, sum)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function captionOf(round: PlayerRound): string {
  const { results, resultsInChips, resultsInCredits } = pastRoundWords();
  const unit = unitOf(round);
  if (unit === "CHIPS") return resultsInChips;
  return unit === "MODE_DEMO" ? resultsInCredits : results;
}

function Payments({ round, outcome }: { round: PlayerRound; outcome: Outcome }) {
  const words = pastRoundWords();
  const pots = new Set(outcome.payments.map(({ pot }) => pot)).size;
  return (
    <section>
      <h4>{words.payments}</h4>
      <ul class="figures">
        {outcome.payments.map(({ pot, seat, gross_cents, commission_cents }) => (
          <li key={`${pot}.${seat}`}>
            {words.payment(
              potName(pot, pots),
              seat,
              amount(cents(gross_cents) - cents(commission_cents), unitOf(round)),
            )}
            {cents(commission_cents) > 0 && (
              <span class="quiet"> · {words.commission(amount(cents(commission_cents), unitOf(round)))}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Moves({ round }: { round: PlayerRound }) {
  const words = pastRoundWords();
  if (round.moves.length === 0) return null;
  return (
    <section class="past-poker-moves" data-testid="told-decisions">
      <h4>{words.moves}</h4>
      <ol>
        {round.moves.map(({ position, seat, move, acted_by, made_at }) => (
          <li key={position} data-acted-by={acted_by}>
            <span class="quiet figures">{timeOfDay(made_at)}</span>
            <span>
              {pokerWords().seat(seat)}: <strong>{moveText(move as Move | undefined, round)}</strong>
            </span>
            <span class="quiet">{words.by[acted_by]}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function moveText(move: Move | undefined, round: PlayerRound): string {
  if (!move) return "";
  if (move.action !== "ACTION_RAISE") return pokerWords().said[move.action];
  return pastRoundWords().raised(amount(cents(move.to_cents), unitOf(round)));
}
