// The player's cave with what they may do about it: buying in, sitting out, coming back, resting, posting.
import { useEffect, useState } from "preact/hooks";
import type { LiveTable } from "../../../table/live/live_table";
import { amount, type Cents, cents } from "../../../words/money";
import { timeOfDay } from "../../../words/times";
import type { SpecificRules } from "../messages/messages";
import { BuyInSheet } from "./buy_in_sheet";
import { caveOffers, isHandUnderWay } from "./cave_offers";
import { FillCountdown } from "./fill_countdown";
import type { PlayerCave } from "./own_cave";
import { caveWords } from "./words";
import "./cave_bar.css";

interface Props {
  table: Pick<LiveTable, "snapshot" | "mode" | "state">;
  cave: PlayerCave;
  rules: SpecificRules;
  /** What lies in front of the player in the hand that is shown; undefined between hands. */
  inHand_cents: Cents | undefined;
}

export function CaveBar({ table, cave, rules, inHand_cents }: Props) {
  const words = caveWords();
  const [open, setOpen] = useState(false);
  const mode = table.mode.value;
  const own = cave.own.value;
  const offers = caveOffers(own, cave.at.value, rules);
  const seated = table.state.value === "playing" && own !== null;
  // Nobody plays without a cave: a player who has just sat down, or has lost it, is asked at once.
  const needs = seated && offers.buyIn !== null && offers.kind !== "top_up" ? offers.kind : null;
  useEffect(() => {
    if (needs) setOpen(true);
  }, [needs]);
  const closed = offers.buyIn === null;
  // A sheet that has nothing to offer any more does not come back by itself.
  useEffect(() => {
    if (closed) setOpen(false);
  }, [closed]);
  if (!seated) return null;
  const close = () => {
    cave.forgetRefusal();
    setOpen(false);
  };
  const busy = cave.busy.value;
  const shown_cents = inHand_cents ?? cents(own.cave_cents);
  const waiting_cents = cents(own.waiting_cents);
  const standing = words.standing[cave.at.value?.standing ?? "CAVE_STANDING_UNSPECIFIED"];
  return (
    <section class="cave-bar" aria-label={words.group} data-testid="cave-bar" data-standing={cave.at.value?.standing}>
      <p class="cave-bar-sum">
        <span class="quiet">{words.cave}</span>{" "}
        <strong class="figures" data-testid="own-cave" data-cents={shown_cents}>
          {amount(shown_cents, mode)}
        </strong>
        {waiting_cents > 0 && (
          <span class="quiet" data-testid="cave-waiting">
            {" "}
            {words.waiting(amount(waiting_cents, mode))}
          </span>
        )}
      </p>
      <p class="cave-bar-standing quiet" role="status">
        {own.resting_until ? words.restingUntil(timeOfDay(own.resting_until)) : standing}
      </p>
      {!open && <FillCountdown cave={cave} />}
      <div class="cave-bar-actions">
        {offers.buyIn && (
          <button
            type="button"
            class={offers.kind === "top_up" ? "button" : "button first"}
            onClick={() => setOpen(true)}
            data-testid="open-buy-in"
          >
            {words.buyIn[offers.kind]}
          </button>
        )}
        {offers.comeBack && (
          <CaveButton name="come-back" first busy={busy} onChoose={() => cave.setPresence("PRESENCE_PLAYING")}>
            {words.comeBack}
          </CaveButton>
        )}
        {offers.post && (
          <CaveButton
            name="post"
            busy={busy}
            hint={words.postHint}
            onChoose={() => cave.setPresence("PRESENCE_PLAYING", true)}
          >
            {offers.comeBack ? words.comeBackAndPost : words.post}
          </CaveButton>
        )}
        {offers.sitOut && (
          <CaveButton name="sit-out" busy={busy} onChoose={() => cave.setPresence("PRESENCE_AWAY")}>
            {words.sitOut}
          </CaveButton>
        )}
        {offers.rest && (
          <CaveButton
            name="rest"
            busy={busy}
            hint={words.restsLeft(own.rests_left)}
            onChoose={() => cave.setPresence("PRESENCE_RESTING")}
          >
            {words.rest}
          </CaveButton>
        )}
      </div>
      {!open && (
        <p class="cave-bar-refused" role="alert" data-testid="cave-refused">
          {cave.refused.value}
        </p>
      )}
      {open && offers.buyIn && (
        <BuyInSheet
          {...{ cave, rules, mode }}
          kind={offers.kind}
          range={offers.buyIn}
          handUnderWay={isHandUnderWay(table.snapshot.value)}
          onClose={close}
        />
      )}
    </section>
  );
}

interface ButtonProps {
  name: string;
  busy: boolean;
  first?: boolean;
  hint?: string;
  onChoose: () => unknown;
  children: string;
}

function CaveButton({ name, busy, first, hint, onChoose, children }: ButtonProps) {
  return (
    <button
      type="button"
      class={first ? "button first" : "button"}
      aria-disabled={busy}
      title={hint}
      onClick={() => !busy && onChoose()}
      data-testid={name}
    >
      {children}
    </button>
  );
}
