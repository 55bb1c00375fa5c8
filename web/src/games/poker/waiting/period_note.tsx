// When a table in session mode is open, and the player's registration for it.
import { useEffect, useState } from "preact/hooks";
import { call, enterAsGuest, identity } from "../../../api/platform";
import { useServerNow } from "../../../design/use_clock";
import type { LiveTable } from "../../../table/live/live_table";
import { dateTime } from "../../../words/times";
import { caveWords } from "../cave/words";
import type { SpecificRules } from "../messages/messages";
import { Registration } from "./registration";
import { WaitingList } from "./waiting_list";
import "./waiting_list.css";

/** Shown where a player chooses a seat. */
export function BeforeSitting({ table }: { table: LiveTable }) {
  const rules = table.seatChoice.table.value?.configuration?.rules as SpecificRules | undefined;
  return (
    <>
      {rules?.period && <PeriodNote table={table} period={rules.period} />}
      <WaitingList table={table} />
    </>
  );
}

function PeriodNote({ table, period }: { table: LiveTable; period: NonNullable<SpecificRules["period"]> }) {
  const words = caveWords().period;
  const mode = table.seatChoice.table.value?.configuration?.mode ?? "MODE_REAL";
  const [registration] = useState(() => new Registration(table.listedId, mode, { call }));
  const { kind } = identity.value;
  useEffect(() => {
    if (kind !== "nobody") void registration.read();
  }, [registration, kind]);
  const now = useServerNow(1000);
  const [begun, over] = [period.begins_at, period.ends_at].map((at) => now >= Date.parse(at ?? ""));
  const known = registration.known.value;
  const send = async () => {
    if (identity.value.kind === "nobody" && mode === "MODE_DEMO") {
      await enterAsGuest();
      table.join();
    }
    await (known?.registered ? registration.cancel() : registration.register());
  };
  const state = known?.registered
    ? words.registered(known.players)
    : begun
      ? words.begun
      : words.notRegistered(known?.players ?? 0);
  return (
    <section class="waiting-list" data-testid="period" data-registered={known?.registered ?? false}>
      <p class="quiet">{words.open(dateTime(period.begins_at), dateTime(period.ends_at))}</p>
      <p role="status">{over ? words.over : state}</p>
      {!begun && (
        <button
          type="button"
          class={known?.registered ? "button" : "button first"}
          aria-disabled={registration.busy.value}
          onClick={() => void send()}
          data-testid={known?.registered ? "cancel-registration" : "register"}
        >
          {known?.registered ? words.cancel : words.register}
        </button>
      )}
      <p role="alert" class="waiting-list-refused">
        {registration.refused.value}
      </p>
    </section>
  );
}
