// A poker table within its frame: what the table is doing, the oval, and below it the player's actions.
import { computed, effect } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, requestId } from "../../../api/platform";
import type { LiveTable } from "../../../table/live/live_table";
import type { Cents } from "../../../words/money";
import { ActionBar } from "../act/action_bar";
import { useActionKeys } from "../act/action_keys";
import { Decisions } from "../act/decisions";
import { CaveBar } from "../cave/cave_bar";
import { PlayerCave } from "../cave/own_cave";
import { PokerFelt } from "../felt/poker_felt";
import type { TournamentNotice } from "../messages/messages";
import { LastHands } from "../result/last_hands";
import type { Scene } from "../seats/scene";
import { noticeOf } from "../tournaments/table/notice_text";
import type { TournamentAtTable } from "../tournaments/table/own_tournament";
import { TournamentActions } from "../tournaments/table/tournament_actions";
import { TournamentLine } from "../tournaments/table/tournament_line";
import { useTournament } from "../tournaments/table/use_tournament";
import { combinationText } from "../words/combinations";
import { blindsAt, limitsText } from "../words/limits";
import { OvalTable } from "./oval_table";
import { StatusLine } from "./status_line";
import "../layout/colours.css";
import "./poker_table.css";

export function PokerTable({ table }: { table: LiveTable }) {
  const snapshot = table.snapshot.value;
  const version = snapshot?.round?.configuration_version ?? snapshot?.configuration_version;
  const key = `${table.tableId.value} ${version}`;
  return snapshot?.chips ? <AtTournament key={key} table={table} /> : <LaidTable key={key} table={table} />;
}

/** A table of a tournament, of which its players see more than the table. */
function AtTournament({ table }: { table: LiveTable }) {
  const tournament = useTournament(table.tableId.value);
  return <LaidTable table={table} tournament={tournament} />;
}

function LaidTable({ table, tournament }: { table: LiveTable; tournament?: TournamentAtTable }) {
  const [{ felt, decisions, cave }] = useState(() => playedTable(table));
  // A layout effect, before the first click: what is visible can be acted on.
  useLayoutEffect(() => {
    const ends = [felt.follow(), decisions.follow(), tournament ? holdBack(tournament, felt) : cave.follow()];
    return () => {
      for (const end of ends) end();
    };
  }, [felt, decisions, cave, tournament]);
  const root = useRef<HTMLDivElement>(null);
  useActionKeys(decisions, root);
  const notice = useShownNotice(felt);
  const stage = felt.stage.value;
  const best = felt.ownBest.value;
  const configuration = table.snapshot.value?.configuration;
  return (
    <div ref={root} class="poker" data-testid="poker" data-stage={stage}>
      <section class="poker-top">
        <StatusLine felt={felt} />
        {tournament && notice ? (
          <TournamentLine at={tournament} notice={notice} />
        ) : (
          <LastHands past={felt.visiblePast.value} />
        )}
      </section>
      <OvalTable
        scene={sceneOf(felt)}
        ownHand={best ? combinationText(best.combination, best.cards) : ""}
        inscription={configuration ? limitsText(configuration) : ""}
      />
      <section class="poker-bar" data-asked={decisions.question.value !== null}>
        <ActionBar decisions={decisions} table={table} />
        {tournament ? (
          <TournamentActions table={table} at={tournament} inHand={ownCaveInHand(felt)} />
        ) : (
          <CaveBar table={table} cave={cave} rules={felt.rules} inHand_cents={ownCaveInHand(felt)} />
        )}
      </section>
      <p class="unseen" role="status" data-testid="hand-said">
        {felt.said.value}
      </p>
    </div>
  );
}

/** Who is out, and what a hand has brought, is seen on the cards first. */
function holdBack(tournament: TournamentAtTable, felt: PokerFelt): () => void {
  return effect(() => {
    const stage = felt.stage.value;
    const own = felt.table.ownSeat.value?.seat;
    const dealtIn = felt.picture.value.seats.some(({ seat, dealt }) => seat === own && dealt);
    tournament.inHand.value = stage === "showing" || (dealtIn && (stage === "dealing" || stage === "playing"));
  });
}

/** What the table tells of its tournament; how many are left is not told before the cards are. */
function useShownNotice(felt: PokerFelt): TournamentNotice | null {
  const shown = useRef<TournamentNotice | null>(null);
  const notice = noticeOf(felt.table.snapshot.value);
  if (felt.stage.value !== "showing") shown.current = notice;
  return shown.current ?? notice;
}

function playedTable(table: LiveTable) {
  const felt = new PokerFelt(table);
  const ready = computed(() => felt.stage.value === "playing");
  const decisions = new Decisions(table, ready, () => blindsAt(table.snapshot.peek()).big);
  return { felt, decisions, cave: new PlayerCave(table, { call, requestId }) };
}

/** As the seat shows it: the platform's own figure is that before the hand, and then tells its result too early. */
function ownCaveInHand({ picture, table }: PokerFelt): Cents | undefined {
  const own = picture.value.seats.find(({ seat }) => seat === table.ownSeat.value?.seat);
  return own?.dealt ? own.cave_cents : undefined;
}

function sceneOf(felt: PokerFelt): Scene {
  const { table } = felt;
  const { small, big } = blindsAt(table.snapshot.value);
  return {
    picture: felt.picture.value,
    own: table.ownSeat.value?.seat,
    personal: felt.personal,
    mode: table.unit.value,
    least: small || big || 1,
    dealt: felt.dealt.value,
    moving: felt.moving.value,
    deciding: felt.deciding.value,
    turn: table.turn.value,
    decision_ms: table.snapshot.value?.configuration?.decision_ms ?? 0,
    marked: felt.marked.value,
    compared: felt.stage.value === "result",
  };
}
