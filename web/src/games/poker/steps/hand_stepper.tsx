// A past hand that the player steps through, and keeps as a file.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { PlayerRound, TableConfiguration } from "../../../api/messages";
import { call } from "../../../api/platform";
import { asRefusal, CallAbandoned } from "../../../api/refusal";
import { Icon, type IconName, Pictogram } from "../../../design/icon";
import { cents } from "../../../words/money";
import { refusalText } from "../../../words/refusals";
import type { Move, Outcome, SpecificRules } from "../messages/messages";
import type { TablePicture } from "../round/picture";
import { unitOf } from "../words/round_unit";
import { cardsInFile, downloadText, fileName } from "./hand_file";
import { type HandStep, handSteps } from "./hand_steps";
import { stepText } from "./step_text";
import { commandOfKey, type StepCommand, stepAfter } from "./stepping";
import { stepWords } from "./words";
import "./hand_stepper.css";

interface Props {
  round: PlayerRound;
  configuration?: TableConfiguration | undefined;
  /** Draws the table at one moment. */
  draw: (picture: TablePicture) => ComponentChildren;
}

// Long enough to read what happened.
const PLAYED_EVERY_MS = 1400;
const LAST_ICON = "M4 6l11 6-11 6zM20 5v14";

export function HandStepper({ round, configuration, draw }: Props) {
  const words = stepWords();
  const file = useHandFile(round);
  const own = ownSeat(round);
  const steps = useMemo(() => stepsOf(round, configuration, file.text), [round, configuration, file.text]);
  const [at, setAt] = useState(0);
  const [playing, setPlaying] = useState(false);
  const last = steps.length - 1;
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(() => {
      setAt((before) => stepAfter(before, "next", steps.length));
      if (at + 1 >= last) setPlaying(false);
    }, PLAYED_EVERY_MS);
    return () => clearTimeout(timer);
  }, [playing, at, last]);
  const step = steps[at];
  if (!step) return null;
  const go = (command: StepCommand) => {
    setPlaying(false);
    setAt(stepAfter(at, command, steps.length));
  };
  const play = () => {
    if (at === last) setAt(0);
    setPlaying(!playing);
  };
  return (
    <section
      class="hand-stepper"
      aria-label={words.title}
      data-testid="hand-stepper"
      data-step={at}
      data-steps={steps.length}
      data-kind={step.kind}
      onKeyDown={(event) => {
        const command = commandOfKey(event.key);
        if (!command || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        go(command);
      }}
    >
      <div class="hand-stepper-picture">{draw(step.picture)}</div>
      <p class="hand-stepper-text" role="status" data-testid="step-text">
        {stepText(step, own, unitOf(round))}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: buttons that belong together, and no form */}
      <div class="hand-stepper-controls" role="group" aria-label={words.title} title={words.keys}>
        <StepButton icon="last" label={words.first} at={at === 0} onChoose={() => go("first")} name="first" />
        <StepButton icon="back" label={words.back} at={at === 0} onChoose={() => go("back")} name="back" />
        <button type="button" class="button hand-stepper-play" onClick={play} data-testid="step-play">
          <Icon name={playing ? "close" : "play"} />
          {playing ? words.pause : words.play}
        </button>
        <StepButton icon="next" label={words.next} at={at === last} onChoose={() => go("next")} name="next" />
        <StepButton path={LAST_ICON} label={words.last} at={at === last} onChoose={() => go("last")} name="last" />
      </div>
      <p class="hand-stepper-count quiet figures">{words.step(at + 1, steps.length)}</p>
      <div class="row hand-stepper-file">
        <button
          type="button"
          class="button"
          aria-disabled={file.text === null}
          onClick={() => file.text !== null && downloadText(file.text, fileName(round.round?.round_id ?? ""))}
          data-testid="download-hand"
        >
          {words.download}
        </button>
        <span role="alert">{file.refused}</span>
      </div>
    </section>
  );
}

interface ButtonProps {
  name: StepCommand;
  icon?: IconName;
  path?: string;
  label: string;
  /** There is nothing in this direction. */
  at: boolean;
  onChoose: () => void;
}

/** A button at the end of the list stays, and so does the focus that may lie on it. */
function StepButton({ name, icon, path, label, at, onChoose }: ButtonProps) {
  return (
    <button
      type="button"
      class="button icon"
      aria-label={label}
      title={label}
      aria-disabled={at}
      onClick={() => !at && onChoose()}
      data-testid={`step-${name}`}
    >
      {icon ? <Icon name={icon} /> : <Pictogram path={path ?? ""} />}
    </button>
  );
}

/** The hand's file: it alone holds the player's own cards where they were not turned up. */
function useHandFile(round: PlayerRound): { text: string | null; refused: string } {
  const [file, setFile] = useState<{ text: string | null; refused: string }>({ text: null, refused: "" });
  const { table_id, mode } = round;
  const round_id = round.round?.round_id ?? "";
  useEffect(() => {
    let shown = true;
    setFile({ text: null, refused: "" });
    call("PokerService.ExportHand", { table_id, round_id }).then(
      ({ phh }) => shown && setFile({ text: phh, refused: "" }),
      (error) => {
        if (shown && !(error instanceof CallAbandoned)) {
          setFile({ text: null, refused: refusalText(asRefusal(error), mode) });
        }
      },
    );
    return () => {
      shown = false;
    };
  }, [table_id, round_id, mode]);
  return file;
}

function ownSeat(round: PlayerRound): number | undefined {
  return (round.stakes[0]?.bets as { seat?: number } | undefined)?.seat;
}

function stepsOf(round: PlayerRound, configuration: TableConfiguration | undefined, phh: string | null): HandStep[] {
  const outcome = round.round?.outcome as Outcome | undefined;
  if (!outcome) return [];
  const rules = (configuration?.rules ?? {}) as SpecificRules;
  const big_blind_cents = cents(rules.big_blind_cents);
  const seat = ownSeat(round);
  return handSteps({
    outcome,
    moves: round.moves.map(({ seat: by, move, acted_by }) => ({ seat: by, move: move as unknown as Move, acted_by })),
    small_blind_cents: cents(rules.small_blind_cents) || Math.floor(big_blind_cents / 2),
    big_blind_cents,
    seats: configuration?.seats ?? 0,
    personal: round.regulation.startsWith("811/") ? 4 : 2,
    own: seat === undefined ? undefined : { seat, cards: phh ? cardsInFile(phh, seat) : [] },
  });
}
