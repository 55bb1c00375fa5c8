// A roulette table within its frame: wheel, board, clock, chips, and what a round came to.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../../api/platform";
import { heldBack } from "../../table/held_balance";
import type { LiveTable } from "../../table/live_table";
import { PhaseClock } from "../../table/phase_clock";
import { said } from "../../words/language";
import { betTold } from "./bet_told";
import type { Layout } from "./bets";
import { BetsListed } from "./bets_listed";
import { Board } from "./board";
import { Felt } from "./felt";
import type { Told } from "./felt_story";
import { LastNumbers } from "./last_numbers";
import { LastResult, useRoundTold } from "./last_result";
import { NoticeShown } from "./notice_shown";
import { OutcomeCalled } from "./outcome_called";
import { OwnRounds } from "./own_rounds";
import { Racetrack } from "./racetrack";
import { ballRolls } from "./sounds";
import { Tray } from "./tray";
import { useShortcuts } from "./tray_shortcuts";
import { Wheel } from "./wheel";
import { words } from "./words";
import "./roulette_table.css";
import "./reflow.css";

export function RouletteTable({ table }: { table: LiveTable }) {
  const tableId = table.tableId.value;
  const snapshot = table.snapshot.value;
  const version = snapshot?.round?.configuration_version ?? snapshot?.configuration_version;
  const [layout, setLayout] = useState<{ of: string; is: Layout } | null>(null);
  const [failed, setFailed] = useState(false);
  const [tries, setTries] = useState(0);
  const wanted = `${tableId} ${version} ${tries}`;
  useEffect(() => {
    let wantedStill = true;
    setFailed(false);
    call("RouletteService.GetLayout", { table_id: tableId }).then(
      (is) => wantedStill && setLayout({ of: `${tableId} ${version}`, is }),
      () => {
        if (!wantedStill) return;
        setFailed(true);
        // Nothing is shown happening here.
        heldBack.value = false;
      },
    );
    return () => {
      wantedStill = false;
    };
  }, [wanted]);
  if (failed) {
    return (
      <div class="roulette-wait" role="alert">
        <p>{words().failed}</p>
        <button type="button" class="button" onClick={() => setTries(tries + 1)}>
          {words().again}
        </button>
      </div>
    );
  }
  if (!layout) return <p class="roulette-wait quiet">{words().loading}</p>;
  return <Laid key={layout.of} table={table} layout={layout.is} />;
}

function Laid({ table, layout }: { table: LiveTable; layout: Layout }) {
  const [felt] = useState(() => new Felt(table, layout));
  // Before the first click: what can be seen can be bet on.
  useLayoutEffect(() => felt.begin(), [felt]);
  const root = useRef<HTMLDivElement>(null);
  useShortcuts(felt, root);
  const [track, showTrack] = useState(false);
  const [list, showList] = useState(false);
  const roundTold = useRoundTold(table.tableId.value);
  const stage = felt.story.stage.value;
  const callBets = layout.call_bets.length > 0;
  const classes = [
    "roulette",
    `roulette-${stage}`,
    ...(callBets ? ["with-track"] : []),
    ...(track ? ["on-track"] : []),
    ...(read(felt) ? ["roulette-read"] : []),
  ];
  return (
    <div ref={root} class={classes.join(" ")} data-testid="roulette" data-stage={stage}>
      <section class="roulette-clock">
        <PhaseClock table={table} />
      </section>
      <section class="roulette-wheel">
        <TheWheel felt={felt} layout={layout} />
        <Result felt={felt} />
      </section>
      <section class="roulette-past">
        <LastNumbers past={felt.story.past.value} />
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
              onClick={() => showTrack(!track)}
              data-testid="turn-track"
            >
              {track ? words().boardShort : words().racetrack}
            </button>
          )}
          <Pointed felt={felt} onTell={roundTold.tell} />
          <button
            type="button"
            class="button roulette-small"
            title={words().listHint}
            onClick={() => showList(true)}
            data-testid="open-list"
          >
            {words().listShort}
          </button>
        </div>
      </section>
      <section class="roulette-tray">
        <NoticeShown notice={felt.notice} />
        <Tray felt={felt} />
      </section>
      <p class="unseen" role="status" data-testid="said">
        {felt.said.value}
      </p>
      {roundTold.sheet}
      {list && <BetsListed felt={felt} onClose={() => showList(false)} />}
    </div>
  );
}

function TheWheel({ felt, layout }: { felt: Felt; layout: Layout }) {
  const spin = felt.story.spin.value;
  useEffect(() => (spin ? ballRolls(spin, layout.pockets) : undefined), [spin]);
  const called = isTold(felt) ? (felt.story.told.value?.number ?? null) : null;
  return <Wheel pockets={layout.pockets} spin={spin} lying={felt.story.lying.value} called={called} />;
}

/** The ball lies, and everybody may know where. */
function isTold(felt: Felt): boolean {
  const stage = felt.story.stage.value;
  return stage !== "quiet" && stage !== "rolling";
}

/** The round before, while it stays to be read; alone at a table it is the one that was just paid. */
function read(felt: Felt): Told | null {
  if (felt.story.aside.value) return felt.story.told.value;
  return felt.story.stage.value === "quiet" ? felt.story.kept.value : null;
}

/** What the round came to; while there is nothing to tell, the rounds before it. */
function Result({ felt }: { felt: Felt }) {
  const told = isTold(felt) ? felt.story.told.value : read(felt);
  const voided = felt.story.voided.value;
  return (
    <div class="roulette-result">
      {voided ? (
        <p class="roulette-void" aria-hidden="true" data-testid="void">
          {said(voided)}
        </p>
      ) : (
        <OutcomeCalled
          outcome={told?.settled ? told.outcome : null}
          staked_cents={told?.staked_cents ?? 0}
          payout_cents={told?.payout_cents ?? 0}
          prize_cents={told ? felt.prize(told) : 0}
          mode={felt.table.mode.value}
        />
      )}
      <OwnRounds felt={felt} covered={told !== null} />
    </div>
  );
}

/** The quiet line: what the place that is pointed at is, covers, pays and takes. */
function Pointed({ felt, onTell }: { felt: Felt; onTell: (round_id: string) => void }) {
  const name = felt.pointed.value;
  const told = name ? betTold(felt, name) : null;
  const last = read(felt);
  return (
    <p class="roulette-pointed figures" data-testid="pointed">
      {told ? (
        <>
          <strong>{told.name}</strong>
          {told.numbers && <span>{told.numbers}</span>}
          {told.terms.map((term) => (
            <span key={term}>{term}</span>
          ))}
        </>
      ) : (
        <>
          {last && <LastResult told={last} mode={felt.table.mode.value} onTell={() => onTell(last.round_id)} />}
          {felt.bettable.value && <span class="roulette-point quiet">{words().point}</span>}
        </>
      )}
    </p>
  );
}
