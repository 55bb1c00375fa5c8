// One past round of the player's: the game's pictures and words, and its effect on the balance (804/2015:24).
import type { LocalizedText, PlayerRound } from "../api/messages";
import { Icon, Pictogram } from "../design/icon";
import { gameEntry, loadedGame } from "../game_interface/registered_games";
import { listedTable } from "../tables/tables";
import { inLanguage } from "../words/language";
import { amount, cents } from "../words/money";
import { reasonText, voidText } from "../words/reasons";
import { dateTime, timeOfDay } from "../words/times";
import { drawTriggerText } from "./draw_trigger";
import { roundNet, roundNetText } from "./round_net";
import { roundWords } from "./words";
import "./round_story.css";

interface Props {
  /** The game that was played. */
  game: string;
  round: PlayerRound;
  onComplain?: ((round: PlayerRound) => void) | undefined;
}

export function RoundStory({ game: id, round, onComplain }: Props) {
  const words = roundWords();
  const table = listedTable(round.table_id);
  const entry = gameEntry(id);
  const game = loadedGame(id);
  const net = roundNet(round);
  const status = round.round?.state;
  const triggerText = drawTriggerText(round, entry?.texts());
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
          <h3>{inLanguage(table?.configuration?.name) || round.table_id}</h3>
          <p class="quiet figures">{dateTime(round.round?.opened_at)}</p>
        </div>
        <strong class={`round-net ${net !== null && net > 0 ? "good" : ""}`}>{roundNetText(round)}</strong>
      </header>
      {status === "ROUND_STATE_VOID" && (
        <p class="round-hint">
          <Icon name="warning" />
          <span>{voidHintText(round.round?.void_reason ?? "", entry?.emptiedRound)}</span>
        </p>
      )}
      {triggerText && (
        <p class="round-hint" data-testid="draw-trigger">
          <Pictogram path={entry?.startIcon ?? ""} />
          <span>{triggerText}</span>
        </p>
      )}
      {status === "ROUND_STATE_OPEN" && (
        <p class="round-hint">
          <Icon name="clock" />
          <span>{words.underWayHint}</span>
        </p>
      )}
      {game && (
        <game.PastRound round={round} {...(table?.configuration ? { configuration: table.configuration } : {})} />
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

function voidHintText(reason: string, emptied: LocalizedText | undefined): string {
  const { voidHint, voidReason } = roundWords();
  const emptiedText = voidText({ reason }, emptied);
  if (emptiedText) return inLanguage(emptiedText);
  return reason ? `${voidHint} ${voidReason(reasonText(reason))}` : voidHint;
}
