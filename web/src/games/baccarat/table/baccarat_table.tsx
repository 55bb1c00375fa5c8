// A baccarat table within its frame: hands, places, chances, clock, roads, tray, and the round's result.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../../../api/platform";
import { Sheet } from "../../../design/overlays/sheet";
import { LaidTable } from "../../../table/live/laid_table";
import type { LiveTable } from "../../../table/live/live_table";
import { PhaseClock } from "../../../table/live/phase_clock";
import { NoticeBox } from "../../../tray/notice_box";
import { useShortcuts } from "../../../tray/shortcuts";
import { type StartAction, Tray } from "../../../tray/tray";
import { inLanguage } from "../../../words/language";
import { amount, cents } from "../../../words/money";
import { Chances } from "../cloth/chances";
import { Places } from "../cloth/places";
import { Felt } from "../felt/felt";
import { Hands } from "../hands/hands";
import type { Layout, Roads } from "../layout/messages";
import { LastRound, usePastRoundSheet } from "../result/last_round";
import { ResultPlaque } from "../result/result_plaque";
import { RoadsPanel } from "../roads/roads";
import { useRoads } from "../roads/use_roads";
import { EMPTIED_ROUND } from "../words/frame_texts";
import { DEAL_ICON } from "../words/icons";
import { baccaratWords } from "../words/table_words";
import "./baccarat_table.css";

const readLayout = (table_id: string) => call("BaccaratService.GetLayout", { table_id });

export function BaccaratTable({ table }: { table: LiveTable }) {
  return (
    <LaidTable table={table} readLayout={readLayout}>
      {(layout, key) => <FeltInFrame key={key} table={table} layout={layout} />}
    </LaidTable>
  );
}

function FeltInFrame({ table, layout }: { table: LiveTable; layout: Layout }) {
  const words = baccaratWords();
  const [felt] = useState(() => new Felt(table, layout));
  // A layout effect, before the first click: what is visible can be bet on.
  useLayoutEffect(() => felt.follow(), [felt]);
  const root = useRef<HTMLDivElement>(null);
  const [roadsOpen, setRoadsOpen] = useState(false);
  const pastRound = usePastRoundSheet(table.tableId.value);
  const roads = useRoads(felt);
  const stage = felt.sequence.stage.value;
  const start = startAction(stage === "dealing");
  useShortcuts(felt, root, start.key);
  return (
    <div ref={root} class={`baccarat baccarat-${stage}`} data-testid="baccarat" data-stage={stage}>
      <section class="baccarat-clock">
        <PhaseClock
          table={table}
          ownPace={words.ownPace}
          emptied={EMPTIED_ROUND}
          unfolding={stage === "quiet" || stage === "dealing" ? words.unfolding : ""}
        />
      </section>
      <section class="baccarat-result">
        <ResultArea felt={felt} onOpen={pastRound.open} />
      </section>
      <section class="baccarat-past">
        <button
          type="button"
          class="button baccarat-small baccarat-open-roads"
          onClick={() => setRoadsOpen(true)}
          data-testid="open-roads"
        >
          {words.roads}
        </button>
      </section>
      <section class="baccarat-roads">
        <RoadsPanel roads={roads} beads={12} columns={16} />
      </section>
      <section class="baccarat-felt">
        <Hands felt={felt} />
        {/* Where there is one place, it is the one below. */}
        {(layout.rules?.places ?? 1) > 1 && (
          <div class="baccarat-places">
            <Places felt={felt} />
          </div>
        )}
        <Chances felt={felt} />
        <Terms felt={felt} />
      </section>
      <section class="baccarat-tray">
        <NoticeBox notice={felt.notice} />
        <Tray felt={felt} start={start} />
      </section>
      <p class="unseen" role="status" data-testid="said">
        {felt.announcement.value}
      </p>
      {pastRound.sheet}
      {roadsOpen && <RoadsSheet roads={roads} onClose={() => setRoadsOpen(false)} />}
    </div>
  );
}

function startAction(dealing: boolean): StartAction {
  const words = baccaratWords();
  return {
    name: "deal",
    key: "c",
    icon: DEAL_ICON,
    label: dealing ? words.dealing : words.deal,
    hint: words.dealHint,
  };
}

/** The result that is being shown; otherwise the last round. */
function ResultArea({ felt, onOpen }: { felt: Felt; onOpen: (round_id: string) => void }) {
  const stage = felt.sequence.stage.value;
  const called = stage !== "quiet" && stage !== "dealing";
  const voided = felt.sequence.voided.value;
  const result = called ? felt.sequence.result.value : null;
  return (
    <>
      {voided ? (
        <p class="baccarat-void" data-testid="void">
          {inLanguage(voided)}
        </p>
      ) : (
        <ResultPlaque felt={felt} result={result} mode={felt.table.mode.value} />
      )}
      {!voided && !result?.settled && <LastRound felt={felt} onOpen={onOpen} />}
    </>
  );
}

/** What holds for the whole table: in Macau, its limit. */
function Terms({ felt }: { felt: Felt }) {
  const words = baccaratWords();
  const { rules } = felt.layout;
  if (!rules?.macau) return null;
  const cap = cents(rules.prize_cap_cents);
  return (
    <p class="baccarat-terms figures" data-testid="terms">
      {cap > 0 ? (
        <>
          <span class="baccarat-terms-name">
            <strong>{words.macau}</strong> ·{" "}
          </span>
          {words.macauLimit(amount(cap, felt.table.mode.value))}
        </>
      ) : (
        <strong>{words.macau}</strong>
      )}
    </p>
  );
}

function RoadsSheet({ roads, onClose }: { roads: Roads | null; onClose: () => void }) {
  return (
    <Sheet title={baccaratWords().roads} onClose={onClose} testId="roads-sheet">
      <RoadsPanel roads={roads} beads={12} columns={16} />
    </Sheet>
  );
}
