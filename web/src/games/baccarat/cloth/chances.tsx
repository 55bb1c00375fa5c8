// The player's own place: a space for each chance, with its prize, its limits and the chips on it (812/2015:6.a, 9, 10).
import type { JSX } from "preact";
import { trayWords } from "../../../tray/words";
import { amount, type Cents } from "../../../words/money";
import { returnedChances, winningChances } from "../bets/prizes";
import type { Felt } from "../felt/felt";
import type { ChanceOnTable } from "../layout/messages";
import { chanceName } from "../words/chances";
import { baccaratWords } from "../words/table_words";
import { ChanceChips } from "./chance_chips";
import { type OthersOnChance, otherBets } from "./other_bets";
import { commissionText, limitsOf, limitsSign, prizeSign, prizeText } from "./prize_words";
import "./chances.css";

export function Chances({ felt }: { felt: Felt }) {
  const words = baccaratWords();
  const others = otherBets(felt.table.snapshot.value?.bets ?? [], felt.table.ownSeat.value?.seat);
  const pairs = felt.layout.chances.some(({ place }) => place.endsWith("-pair"));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid everywhere
    <div
      class={pairs ? "chances" : "chances chances-without-pairs"}
      role="group"
      aria-label={words.chances}
      aria-description={words.chancesHint}
      data-testid="chances"
    >
      {felt.layout.chances.map((chance) => (
        <ChanceSpace key={chance.place} felt={felt} chance={chance} others={others.get(chance.place)} />
      ))}
    </div>
  );
}

interface Props {
  felt: Felt;
  chance: ChanceOnTable;
  others: OthersOnChance | undefined;
}

function ChanceSpace({ felt, chance, others }: Props) {
  const { place } = chance;
  const mode = felt.table.mode.value;
  const { rules } = felt.layout;
  const own = felt.shownBets.value.get(place) ?? 0;
  const pending = felt.slip.pending.value.get(place) ?? 0;
  const fate = fateOf(felt, place);
  const commission = commissionText(place, rules);
  const keyed: JSX.KeyboardEventHandler<HTMLButtonElement> = (event) => {
    if (event.key !== "Delete") return;
    event.preventDefault();
    felt.takeBackFrom(place);
  };
  return (
    <button
      type="button"
      class={`chance chance-${place}${fate ? ` chance-${fate}` : ""}`}
      aria-disabled={!felt.bettable.value}
      title={`${prizeText(chance, rules)}; ${limitsOf(chance, mode)}`}
      onClick={() => felt.placeChip(place)}
      onKeyDown={keyed}
      data-testid={`chance-${place}`}
      data-own={own || undefined}
      data-pending={pending || undefined}
    >
      <span class="chance-name">{chanceName(place)}</span>
      <span class="chance-prize figures" aria-hidden="true">
        {prizeSign(chance)}
      </span>
      {commission && (
        <span class="chance-commission" aria-hidden="true">
          {commission}
        </span>
      )}
      <span class="chance-limits figures" aria-hidden="true">
        {limitsSign(chance, mode)}
      </span>
      <span class="unseen">{termsText(felt, chance, own, pending)}</span>
      {others && (
        <span class="chance-others figures">{baccaratWords().others(others.players, amount(others.cents, mode))}</span>
      )}
      <span class="chance-stack">
        {own > 0 && <ChanceChips value={own} chips={felt.chips} />}
        {pending > 0 && <ChanceChips value={pending} chips={felt.chips} pending />}
        {fate === "won" && felt.sequence.stage.value === "paid" && own > 0 && (
          <ChanceChips value={prizeOf(felt, chance, own)} chips={felt.chips} class="chance-chips-prize" />
        )}
      </span>
    </button>
  );
}

/** What has become of a chance since the winner was called. */
function fateOf(felt: Felt, place: string): "won" | "lost" | "collected" | "returned" | null {
  const stage = felt.sequence.stage.value;
  const outcome = felt.sequence.result.value?.outcome;
  if (stage === "quiet" || stage === "dealing" || !outcome) return null;
  if (winningChances(outcome).has(place)) return "won";
  if (returnedChances(outcome).has(place)) return "returned";
  return stage === "called" ? "lost" : "collected";
}

function prizeOf(felt: Felt, { place, prize }: ChanceOnTable, own: Cents): Cents {
  const result = felt.sequence.result.value;
  const commission = place === "banca" && result ? felt.commissionOf(result) : 0;
  return own * prize - commission;
}

/** What follows the name for screen readers: `paga 1 para 1, 1,00 a 70,00 €; na mesa 5,00 €`. */
function termsText(felt: Felt, chance: ChanceOnTable, own: Cents, pending: Cents): string {
  const words = trayWords();
  const mode = felt.table.mode.value;
  const terms = [prizeText(chance, felt.layout.rules), limitsOf(chance, mode)].join(", ");
  const stakes = [
    ...(own ? [words.onTable(amount(own, mode))] : []),
    ...(pending ? [words.waiting(amount(pending, mode))] : []),
  ];
  return stakes.length ? `${terms}; ${stakes.join(", ")}` : terms;
}
