// A blackjack table within its frame: clock, latest results, the felt, and below it chips or decisions.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LiveTable } from "../../../table/live/live_table";
import { PhaseClock } from "../../../table/live/phase_clock";
import { NoticeBox } from "../../../tray/notice_box";
import { useShortcuts } from "../../../tray/shortcuts";
import { type StartAction, Tray } from "../../../tray/tray";
import { DecisionBar } from "../decide/decision_bar";
import { useDecisionKeys } from "../decide/decision_keys";
import { BlackjackFelt } from "../felt/blackjack_felt";
import { BankResults } from "../result/bank_results";
import { EMPTIED_ROUND } from "../words/frame_texts";
import { CARDS_ICON } from "../words/icons";
import { blackjackWords } from "../words/table_words";
import { FeltTable } from "./felt_table";
import "../layout/colours.css";
import "./blackjack_table.css";

export function BlackjackTable({ table }: { table: LiveTable }) {
  const snapshot = table.snapshot.value;
  const version = snapshot?.round?.configuration_version ?? snapshot?.configuration_version;
  return <LaidTable key={`${table.tableId.value} ${version}`} table={table} />;
}

function LaidTable({ table }: { table: LiveTable }) {
  const [felt] = useState(() => new BlackjackFelt(table));
  // A layout effect, before the first click: what is visible can be bet on.
  useLayoutEffect(() => felt.follow(), [felt]);
  const root = useRef<HTMLDivElement>(null);
  const words = blackjackWords();
  const start: StartAction = { name: "deal", key: "c", icon: CARDS_ICON, label: words.deal, hint: words.dealHint };
  useShortcuts(felt, root, start.key);
  useDecisionKeys(felt.decisions, root);
  const stage = felt.stage.value;
  const plays = stage === "playing" || stage === "dealing" || stage === "closed";
  return (
    <div ref={root} class={`blackjack blackjack-${stage}`} data-testid="blackjack" data-stage={stage}>
      <section class="blackjack-clock">
        <PhaseClock table={table} ownPace={words.ownPace} emptied={EMPTIED_ROUND} unfolding={words.dealing} />
      </section>
      <section class="blackjack-past">
        <BankResults past={felt.visiblePast.value} />
      </section>
      <FeltTable felt={felt} />
      <section class="blackjack-bar">
        <NoticeBox notice={felt.notice} />
        {plays ? <DecisionBar felt={felt} /> : <Tray felt={felt} start={start} />}
      </section>
      <p class="unseen" role="status" data-testid="said">
        {felt.betsSaid.value}
      </p>
      <p class="unseen" role="status" data-testid="round-said">
        {felt.roundSaid.value}
      </p>
    </div>
  );
}
