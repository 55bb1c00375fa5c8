// Below the felt while cards are on it: what the player is asked and can decide (805/2015:24), or for whom they wait.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useServerNow } from "../../../design/use_clock";
import { dateTime } from "../../../words/times";
import type { BlackjackFelt } from "../felt/blackjack_felt";
import type { Question } from "../felt/decisions";
import type { Hand } from "../messages/messages";
import { sameHand } from "../round/picture";
import { lowTotal } from "../round/scores";
import { bankScoreLabel, scoreLabel } from "../words/scores";
import { blackjackWords } from "../words/table_words";
import { ChoiceButton } from "./choice_button";
import { EvenMoney, Insurance } from "./offers";
import { TurnRing } from "./turn_ring";
import { turnTime } from "./turn_time";
import "./decision_bar.css";

const LAST_S = 5;

export function DecisionBar({ felt }: { felt: BlackjackFelt }) {
  const question = felt.decisions.question.value;
  return (
    <div class={`decision${question ? " asked" : ""}`} data-testid="decision">
      {question ? <Asked key={question.key} felt={felt} question={question} /> : <Waiting felt={felt} />}
    </div>
  );
}

/** Nothing is asked: says why. */
function Waiting({ felt }: { felt: BlackjackFelt }) {
  const words = blackjackWords();
  const { playing, offers } = felt.cards.picture.value;
  const stage = felt.stage.value;
  const plays = felt.ownPlaces.value.size > 0;
  const offered = offers.some(({ open }) => open);
  const headline = felt.decisions.acting.value
    ? words.sending
    : stage !== "playing"
      ? words.dealing
      : playing
        ? words.othersTurn(playing.place)
        : offered
          ? words.offersAsked
          : words.dealing;
  return (
    <div class="decision-waits" data-testid="waits">
      <strong>{headline}</strong>
      <span class="quiet">{stage !== "playing" ? "" : plays ? words.wait : words.waitNext}</span>
    </div>
  );
}

function Asked({ felt, question }: { felt: BlackjackFelt; question: Question }) {
  const words = blackjackWords();
  const box = useRef<HTMLFieldSetElement>(null);
  const { hands, bank, playing } = felt.cards.picture.value;
  const hand = question.offer ? undefined : hands.find((one) => sameHand(one, playing));
  const several = hands.filter(({ place }) => place === question.place).length > 1;
  const title = several && hand ? words.yourHand(question.place, hand.number) : words.yourTurn(question.place);
  // Whoever plays with the keyboard is led here, unless they are elsewhere on the page.
  useLayoutEffect(() => {
    const focused = document.activeElement;
    const here = box.current?.closest(".blackjack");
    if (!document.querySelector("dialog[open]") && (focused === document.body || here?.contains(focused))) {
      box.current?.focus({ preventScroll: true });
    }
  }, []);
  return (
    <fieldset
      ref={box}
      class="decision-asked"
      tabIndex={-1}
      data-testid="asked"
      data-offer={question.offer}
      data-key={question.key}
    >
      <legend class="unseen">{title}</legend>
      <TurnClock felt={felt} />
      <div class="decision-title" aria-hidden="true">
        <strong>{title}</strong>
        {hand && (
          <span class="decision-scores figures">
            {scoreLabel(hand)} <small>×</small> {words.bank} {bankScoreLabel(bank)}
          </span>
        )}
      </div>
      <OpenHand felt={felt} />
      {question.offer === "insurance" ? (
        <Insurance felt={felt} question={question} />
      ) : question.offer === "even_money" ? (
        <EvenMoney felt={felt} question={question} />
      ) : (
        <Choices felt={felt} question={question} hand={hand} />
      )}
    </fieldset>
  );
}

/** Large, with the seconds; the frame's clock announces the turn. */
function TurnClock({ felt }: { felt: BlackjackFelt }) {
  const now = useServerNow(felt.table.individual.value ? 0 : 100);
  const { seconds, share } = turnTime(felt.table, now);
  if (seconds === null) return null;
  return (
    <div
      class={seconds <= LAST_S ? "decision-clock last" : "decision-clock"}
      data-testid="decision-clock"
      data-seconds={seconds}
      role="img"
      aria-label={blackjackWords().seconds(seconds)}
    >
      <TurnRing radius={28} share={share} own />
      <span class={seconds > 99 ? "figures decision-hundreds" : "figures"}>{seconds}</span>
    </div>
  );
}

/** At an individual table the hand waits for its player, up to a published deadline. */
function OpenHand({ felt }: { felt: BlackjackFelt }) {
  const decideBy = felt.table.turn.value?.decide_by;
  if (!felt.table.individual.value || !decideBy) return null;
  return (
    <p class="decision-open quiet" data-testid="open-until">
      {blackjackWords().openUntil(dateTime(decideBy))}
    </p>
  );
}

function Choices({ felt, question, hand }: { felt: BlackjackFelt; question: Question; hand: Hand | undefined }) {
  const words = blackjackWords();
  const [warned, setWarned] = useState(false);
  const [low, high] = hand ? [lowTotal(hand.cards), hand.score] : [0, 0];
  // The ace that counts 1 for the double stays 1 (8.a.ii); not where any score may be doubled.
  const freezes = hand?.soft === true && !felt.rules.double_any_score;
  if (warned) {
    return (
      <div class="decision-warning" role="alert" data-testid="soft-double">
        <p>{words.softDouble(low, high)}</p>
        <div class="decision-choices">
          <button
            type="button"
            class="button"
            onClick={(event) => {
              // The keys go on where the button was.
              event.currentTarget.closest<HTMLElement>(".decision-asked")?.focus();
              setWarned(false);
            }}
            data-testid="soft-double-back"
          >
            {words.back}
          </button>
          <button
            type="button"
            class="button first"
            aria-disabled={felt.decisions.acting.value}
            onClick={() => void felt.decisions.decide("DECISION_DOUBLE")}
            data-testid="soft-double-do"
          >
            {words.softDoubleDo}
          </button>
        </div>
      </div>
    );
  }
  return (
    <div class="decision-choices">
      {question.possible.map((one) => (
        <ChoiceButton
          key={one.decision}
          felt={felt}
          possible={one}
          onChoose={() => {
            if (one.decision === "DECISION_DOUBLE" && freezes) setWarned(true);
            else void felt.decisions.decide(one.decision);
          }}
        />
      ))}
    </div>
  );
}
