// The dialog in which a player fills their cave: the bounds, what it costs, and from when on it is in play.
import { useState } from "preact/hooks";
import type { Mode } from "../../../api/messages";
import { balances, goToCashier, operator } from "../../../api/platform";
import { Sheet } from "../../../design/overlays/sheet";
import { amount, cents } from "../../../words/money";
import { AmountChoice } from "../amounts/amount_choice";
import { AmountChooser } from "../amounts/amount_chooser";
import type { Range } from "../amounts/typed_amount";
import type { SpecificRules } from "../messages/messages";
import { caveCharge } from "./cave_charge";
import type { CaveOffers } from "./cave_offers";
import { FillCountdown } from "./fill_countdown";
import type { PlayerCave } from "./own_cave";
import { caveWords } from "./words";
import "./buy_in_sheet.css";

interface Props {
  cave: PlayerCave;
  rules: SpecificRules;
  mode: Mode;
  kind: CaveOffers["kind"];
  range: Range;
  handUnderWay: boolean;
  onClose: () => void;
}

/** Bounds that change while the sheet is open begin the choice anew: what was chosen may not be possible any more. */
export function BuyInSheet(props: Props) {
  const { minimum_cents, maximum_cents } = props.range;
  return <OpenSheet key={`${minimum_cents} ${maximum_cents}`} {...props} />;
}

function OpenSheet({ cave, rules, mode, kind, range, handUnderWay, onClose }: Props) {
  const words = caveWords();
  const free_cents = cents(balances.value[mode]?.free_cents);
  const [choice] = useState(() => new AmountChoice(range, cents(rules.big_blind_cents), range.maximum_cents));
  const chosen = choice.cents.value;
  const charge = chosen === null ? null : caveCharge(rules, chosen);
  const lacks = charge !== null && charge.debit_cents > free_cents;
  const possible = chosen !== null && !lacks && !cave.busy.value;
  const buy = async () => {
    if (chosen !== null && possible && (await cave.buyIn(chosen))) onClose();
  };
  const { minimum_cents, maximum_cents } = range;
  const most = amount(maximum_cents, mode);
  return (
    <Sheet
      title={words.title[kind]}
      onClose={onClose}
      testId="buy-in"
      actions={
        <>
          <button type="button" class="button plain" onClick={onClose} data-testid="buy-in-later">
            {words.later}
          </button>
          <button
            type="button"
            class="button first"
            aria-disabled={!possible}
            onClick={() => void buy()}
            data-testid="buy-in-confirm"
          >
            {words.confirm(charge ? amount(charge.chips_cents, mode) : "")}
          </button>
        </>
      }
    >
      <p>{words.text[kind]}</p>
      <FillCountdown cave={cave} />
      <div class="buy-in-amount">
        <p class="row apart">
          <strong>{words.amount}</strong>
          <span class="figures quiet" data-testid="buy-in-bounds">
            {minimum_cents === maximum_cents ? words.only(most) : words.bounds(amount(minimum_cents, mode), most)}
          </span>
        </p>
        <AmountChooser choice={choice} mode={mode} label={words.amount} onEnter={() => void buy()}>
          {minimum_cents < maximum_cents && (
            <div class="buy-in-ends">
              <button type="button" class="button" onClick={() => choice.set(minimum_cents)}>
                {words.least}
              </button>
              <button type="button" class="button" onClick={() => choice.set(maximum_cents)}>
                {words.most}
              </button>
            </div>
          )}
        </AmountChooser>
      </div>
      {charge && (
        <dl class="buy-in-charge" data-testid="buy-in-charge" data-debit={charge.debit_cents}>
          <div>
            <dt>{words.chips}</dt>
            <dd class="figures">{amount(charge.chips_cents, mode)}</dd>
          </div>
          {charge.commission_cents > 0 && (
            <div>
              <dt>{words.commission}</dt>
              <dd class="figures" data-testid="buy-in-commission">
                {amount(charge.commission_cents, mode)}
              </dd>
            </div>
          )}
          <div>
            <dt>{words.debit}</dt>
            <dd class="figures">{amount(charge.debit_cents, mode)}</dd>
          </div>
          <div>
            <dt>{words.balance}</dt>
            <dd class="figures">{amount(free_cents, mode)}</dd>
          </div>
        </dl>
      )}
      {handUnderWay && (
        <p class="quiet" data-testid="buy-in-next-hand">
          {words.nextHand}
        </p>
      )}
      <div role="alert" class="buy-in-refused" data-testid="buy-in-refused">
        {lacks ? words.tooLittle : cave.refused.value}
      </div>
      {lacks && mode === "MODE_REAL" && operator.value.cashier_url && (
        <button type="button" class="button" onClick={goToCashier}>
          {words.cashier}
        </button>
      )}
    </Sheet>
  );
}
