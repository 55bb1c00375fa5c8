// One round of the player's told again: the game's own pictures and words, and what it meant to his money (804/2015:24).
import type { PlayerRound } from "../api/messages";
import { Icon } from "../design/icon";
import { gameOf } from "../loaded_games";
import { listedTable } from "../lobby/tables";
import { said } from "../words/language";
import { moment, timeOfDay } from "../words/moments";
import { amount, cents } from "../words/money";
import { reasonWords, voidWords } from "../words/reasons";
import { platformLaunchInWords } from "./round_launch";
import { netInWords, netOf } from "./round_net";
import { roundsWords } from "./rounds_words";
import "./rounds.css";

interface Props {
  round: PlayerRound;
  onComplain?: ((round: PlayerRound) => void) | undefined;
}

export function RoundStory({ round, onComplain }: Props) {
  const words = roundsWords();
  const table = listedTable(round.table_id);
  const game = gameOf(table?.configuration?.game);
  const net = netOf(round);
  const status = round.round?.status;
  const launched = platformLaunchInWords(round);
  const facts: [string, string][] = [];
  if (round.balance_before_cents !== undefined && round.balance_after_cents !== undefined) {
    const [before, after] = [cents(round.balance_before_cents), cents(round.balance_after_cents)];
    facts.push([words.balance, `${amount(before, round.mode)} → ${amount(after, round.mode)}`]);
  }
  if (round.round?.ended_at) facts.push([words.ended, timeOfDay(round.round.ended_at)]);
  facts.push([words.rule, round.regulation], [words.number, round.round?.round_id ?? ""]);
  return (
    <article class="round-story" data-testid="round-story">
      <header class="row apart">
        <div>
          <h3>{said(table?.configuration?.name) || round.table_id}</h3>
          <p class="quiet figures">{moment(round.round?.opened_at)}</p>
        </div>
        <strong class={`round-net ${net !== null && net > 0 ? "good" : ""}`}>{netInWords(round)}</strong>
      </header>
      {status === "ROUND_STATUS_VOID" && (
        <p class="round-hint">
          <Icon name="warning" />
          <span>{voidInWords(round.round?.void_reason ?? "")}</span>
        </p>
      )}
      {launched && (
        <p class="round-hint" data-testid="platform-launched">
          <Icon name="wheel" />
          <span>{launched}</span>
        </p>
      )}
      {status === "ROUND_STATUS_IN_PROGRESS" && (
        <p class="round-hint">
          <Icon name="clock" />
          <span>{words.underWayHint}</span>
        </p>
      )}
      {game && (
        <game.RoundTold round={round} {...(table?.configuration ? { configuration: table.configuration } : {})} />
      )}
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="figures">{value}</dd>
          </div>
        ))}
      </dl>
      {onComplain && (
        <div class="row">
          <button type="button" class="button" onClick={() => onComplain(round)} data-testid="complain-round">
            <Icon name="complaint" />
            {words.complain}
          </button>
        </div>
      )}
    </article>
  );
}

function voidInWords(reason: string): string {
  const { voidHint, voidReason } = roundsWords();
  const nothingLeft = voidWords({ reason });
  if (nothingLeft) return said(nothingLeft);
  return reason ? `${voidHint} ${voidReason(reasonWords(reason))}` : voidHint;
}
