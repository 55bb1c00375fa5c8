// A roulette table within its frame: wheel, board, clock, tray, and the round's result.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../../../api/platform";
import { LaidTable } from "../../../table/live/laid_table";
import type { LiveTable } from "../../../table/live/live_table";
import { PhaseClock } from "../../../table/live/phase_clock";
import { NoticeBox } from "../../../tray/notice_box";
import { useShortcuts } from "../../../tray/shortcuts";
import { type StartAction, Tray } from "../../../tray/tray";
import { inLanguage } from "../../../words/language";
import { Board } from "../board/board";
import { describeBet } from "../felt/bet_description";
import { Felt } from "../felt/felt";
import type { RoundResult } from "../felt/results";
import type { Layout } from "../layout/messages";
import { Racetrack } from "../racetrack/racetrack";
import { LastNumbers } from "../result/last_numbers";
import { LastResult, usePastRoundSheet } from "../result/last_result";
import { OutcomePlaque } from "../result/outcome_plaque";
import { OwnRounds } from "../result/own_rounds";
import { BetList } from "../tray/bet_list";
import { ballSound } from "../wheel/ball_sound";
import { Wheel } from "../wheel/wheel";
import { EMPTIED_ROUND } from "../words/frame_texts";
import { WHEEL_ICON } from "../words/icons";
import { rouletteWords } from "../words/table_words";
import "./roulette_table.css";
import "./reflow.css";

const readLayout = (table_id: string) => call("RouletteService.GetLayout", { table_id });

export function RouletteTable({ table }: { table: LiveTable }) {
  return (
    <LaidTable table={table} readLayout={readLayout}>
      {(layout, key) => <FeltInFrame key={key} table={table} layout={layout} />}
    </LaidTable>
  );
}

function FeltInFrame({ table, layout }: { table: LiveTable; layout: Layout }) {
  const [felt] = useState(() => new Felt(table, layout));
  // A layout effect, before the first click: what is visible can be bet on.
  useLayoutEffect(() => felt.follow(), [felt]);
  const root = useRef<HTMLDivElement>(null);
  const [track, setTrack] = useState(false);
  const [list, setList] = useState(false);
  const pastRound = usePastRoundSheet(table.tableId.value);
  const stage = felt.sequence.stage.value;
  const start = startAction(stage === "rolling");
  useShortcuts(felt, root, start.key);
  const callBets = layout.call_bets.length > 0;
  const classes = [
    "roulette",
    `roulette-${stage}`,
    ...(callBets ? ["with-track"] : []),
    ...(track ? ["on-track"] : []),
    ...(readableResult(felt) ? ["roulette-read"] : []),
  ];
  return (
    <div ref={root} class={classes.join(" ")} data-testid="roulette" data-stage={stage}>
      <section class="roulette-clock">
        <PhaseClock table={table} ownPace={rouletteWords().ownPace} emptied={EMPTIED_ROUND} />
      </section>
      <section class="roulette-wheel">
        <TableWheel felt={felt} layout={layout} />
        <ResultArea felt={felt} />
      </section>
      <section class="roulette-past">
        <LastNumbers past={felt.sequence.visiblePast.value} />
      </section>
      <section class="roulette-felt">
        <div class="roulette-cloth">
          <Board felt={felt} />
          {callBets && <Racetrack felt={felt} />}
        </div>
        <div class="roulette-line">
          {callBets && (
            <button
              type="button"
              class="button roulette-small roulette-turn"
              aria-pressed={track}
              onClick={() => setTrack(!track)}
              data-testid="turn-track"
            >
              {track ? rouletteWords().boardShort : rouletteWords().racetrack}
            </button>
          )}
          <PointedLine felt={felt} onOpen={pastRound.open} />
          <button
            type="button"
            class="button roulette-small"
            title={rouletteWords().listHint}
            onClick={() => setList(true)}
            data-testid="open-list"
          >
            {rouletteWords().listShort}
          </button>
        </div>
      </section>
      <section class="roulette-tray">
        <NoticeBox notice={felt.notice} />
        <Tray felt={felt} start={start} />
      </section>
      <p class="unseen" role="status" data-testid="said">
        {felt.announcement.value}
      </p>
      {pastRound.sheet}
      {list && <BetList felt={felt} onClose={() => setList(false)} />}
    </div>
  );
}

function TableWheel({ felt, layout }: { felt: Felt; layout: Layout }) {
  const spin = felt.sequence.spin.value;
  useEffect(() => (spin ? ballSound(spin, layout.pockets) : undefined), [spin]);
  const calledNumber = resultVisible(felt) ? (felt.sequence.result.value?.number ?? null) : null;
  return (
    <Wheel
      pockets={layout.pockets}
      spin={spin}
      restingNumber={felt.sequence.restingNumber.value}
      calledNumber={calledNumber}
    />
  );
}

function startAction(rolling: boolean): StartAction {
  const words = rouletteWords();
  return {
    name: "spin",
    key: "l",
    icon: WHEEL_ICON,
    label: rolling ? words.rolling : words.spin,
    hint: words.spinHint,
  };
}

/** The ball has come to rest, and its number is public. */
function resultVisible(felt: Felt): boolean {
  const stage = felt.sequence.stage.value;
  return stage !== "quiet" && stage !== "rolling";
}

/** The previous result while it stays readable; at an individual table the one that was just paid. */
function readableResult(felt: Felt): RoundResult | null {
  if (felt.sequence.plaqueDone.value) return felt.sequence.result.value;
  return felt.sequence.stage.value === "quiet" ? felt.sequence.keptResult.value : null;
}

/** The result that is being shown; otherwise the player's last rounds. */
function ResultArea({ felt }: { felt: Felt }) {
  const result = resultVisible(felt) ? felt.sequence.result.value : readableResult(felt);
  const voided = felt.sequence.voided.value;
  return (
    <div class="roulette-result">
      {voided ? (
        <p class="roulette-void" aria-hidden="true" data-testid="void">
          {inLanguage(voided)}
        </p>
      ) : (
        <OutcomePlaque
          outcome={result?.settled ? result.outcome : null}
          staked_cents={result?.staked_cents ?? 0}
          payout_cents={result?.payout_cents ?? 0}
          prize_cents={result ? felt.prizeOf(result) : 0}
          mode={felt.table.mode.value}
        />
      )}
      <OwnRounds felt={felt} covered={result !== null} />
    </div>
  );
}

/** The line below the board: describes the place that is pointed at, else shows the last result. */
function PointedLine({ felt, onOpen }: { felt: Felt; onOpen: (round_id: string) => void }) {
  const name = felt.pointedPlace.value;
  const description = name ? describeBet(felt, name) : null;
  const last = readableResult(felt);
  return (
    <p class="roulette-pointed figures" data-testid="pointed">
      {description ? (
        <>
          <strong>{description.name}</strong>
          {description.numbers && <span>{description.numbers}</span>}
          {description.terms.map((term) => (
            <span key={term}>{term}</span>
          ))}
        </>
      ) : (
        <>
          {last && <LastResult result={last} mode={felt.table.mode.value} onOpen={() => onOpen(last.round_id)} />}
          {felt.bettable.value && <span class="roulette-point quiet">{rouletteWords().point}</span>}
        </>
      )}
    </p>
  );
}
