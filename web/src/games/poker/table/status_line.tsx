// What the table is doing, in a line: whose turn it is, what is being shown, when the next hand begins.
import type { TableSnapshot } from "../../../api/messages";
import { useServerNow } from "../../../design/use_clock";
import { inLanguage } from "../../../words/language";
import { reasonText } from "../../../words/reasons";
import type { PokerFelt } from "../felt/poker_felt";
import { heldText } from "../tournaments/table/notice_text";
import { playWords } from "../tournaments/table/words";
import { pokerWords } from "../words/table_words";

interface Status {
  headline: string;
  detail: string;
}

export function StatusLine({ felt }: { felt: PokerFelt }) {
  const snapshot = felt.table.snapshot.value;
  const now = useServerNow(snapshot?.phase === "PHASE_RESULT_SHOWN" ? 250 : 0);
  const { headline, detail } = statusOf(felt, snapshot, now);
  return (
    <div class="poker-status" data-testid="status">
      <strong role="status">{headline}</strong>
      {detail && <span class="figures">{detail}</span>}
    </div>
  );
}

function statusOf(felt: PokerFelt, table: TableSnapshot | null, now: number): Status {
  const words = pokerWords();
  if (table?.phase === "PHASE_DISABLED") {
    const why = table.disabled_reason ? words.disabledWhy(reasonText(table.disabled_reason)) : words.disabledHint;
    return { headline: words.disabled, detail: why };
  }
  const voided = felt.voided.value;
  if (voided) return { headline: table?.chips ? playWords().voided : words.void, detail: inLanguage(voided) };
  const street = words.streets[felt.picture.value.street];
  switch (felt.stage.value) {
    case "dealing":
      return { headline: words.dealing, detail: street };
    case "playing": {
      const seat = felt.deciding.value;
      if (seat === null) return { headline: street, detail: "" };
      const own = seat === felt.table.ownSeat.value?.seat;
      return { headline: own ? words.yourTurn : words.turnOf(seat), detail: street };
    }
    case "showing":
      return { headline: words.showing, detail: "" };
    case "result":
      return { headline: words.over, detail: heldText(table) || nextText(table, now) };
    default:
      if (table?.chips) return { headline: heldText(table) || playWords().waits, detail: "" };
      return playing(table) >= 2
        ? { headline: words.opening, detail: "" }
        : { headline: words.waiting, detail: words.waitingHint };
  }
}

function nextText(table: TableSnapshot | null, now: number): string {
  const opens = table?.next_round_opens_at;
  return opens ? pokerWords().nextIn(Math.max(0, Math.ceil((Date.parse(opens) - now) / 1000))) : "";
}

/** How many players could be dealt in. */
function playing(table: TableSnapshot | null): number {
  const ready = new Set(["CAVE_STANDING_PLAYING", "CAVE_STANDING_WAITING"]);
  return (table?.caves ?? []).filter(({ standing }) => ready.has(standing)).length;
}
