// A poker table within its frame: what the table is doing, the oval, and below it the player's actions.
import { computed } from "@preact/signals";
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
import { LastHands } from "../result/last_hands";
import type { Scene } from "../seats/scene";
import { combinationText } from "../words/combinations";
import { blindsOf, limitsText } from "../words/limits";
import { OvalTable } from "./oval_table";
import { StatusLine } from "./status_line";
import "../layout/colours.css";
import "./poker_table.css";

export function PokerTable({ table }: { table: LiveTable }) {
  const snapshot = table.snapshot.value;
  const version = snapshot?.round?.configuration_version ?? snapshot?.configuration_version;
  return <LaidTable key={`${table.tableId.value} ${version}`} table={table} />;
}

function LaidTable({ table }: { table: LiveTable }) {
  const [{ felt, decisions, cave }] = useState(() => playedTable(table));
  // A layout effect, before the first click: what is visible can be acted on.
  useLayoutEffect(() => {
    const ends = [felt.follow(), decisions.follow(), cave.follow()];
    return () => {
      for (const end of ends) end();
    };
  }, [felt, decisions, cave]);
  const root = useRef<HTMLDivElement>(null);
  useActionKeys(decisions, root);
  const stage = felt.stage.value;
  const best = felt.ownBest.value;
  const configuration = table.snapshot.value?.configuration;
  return (
    <div ref={root} class="poker" data-testid="poker" data-stage={stage}>
      <section class="poker-top">
        <StatusLine felt={felt} />
        <LastHands past={felt.visiblePast.value} />
      </section>
      <OvalTable
        scene={sceneOf(felt)}
        ownHand={best ? combinationText(best.combination, best.cards) : ""}
        inscription={configuration ? limitsText(configuration) : ""}
      />
      <section class="poker-bar" data-asked={decisions.question.value !== null}>
        <ActionBar decisions={decisions} table={table} />
        <CaveBar table={table} cave={cave} rules={felt.rules} inHand_cents={ownCaveInHand(felt)} />
      </section>
      <p class="unseen" role="status" data-testid="hand-said">
        {felt.said.value}
      </p>
    </div>
  );
}

function playedTable(table: LiveTable) {
  const felt = new PokerFelt(table);
  const ready = computed(() => felt.stage.value === "playing");
  const { big } = blindsOf(felt.rules);
  const decisions = new Decisions(table, ready, big);
  return { felt, decisions, cave: new PlayerCave(table, { call, requestId }) };
}

/** As the seat shows it: the platform's own figure is that before the hand, and then tells its result too early. */
function ownCaveInHand({ picture, table }: PokerFelt): Cents | undefined {
  const own = picture.value.seats.find(({ seat }) => seat === table.ownSeat.value?.seat);
  return own?.dealt ? own.cave_cents : undefined;
}

function sceneOf(felt: PokerFelt): Scene {
  const { table } = felt;
  const { small, big } = blindsOf(felt.rules);
  return {
    picture: felt.picture.value,
    own: table.ownSeat.value?.seat,
    personal: felt.personal,
    mode: table.mode.value,
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
