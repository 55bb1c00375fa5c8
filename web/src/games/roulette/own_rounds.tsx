// The player's last rounds at this table, beside the wheel: what each brought, and one click to all that was played.
import { useEffect, useState } from "preact/hooks";
import { netInWords, netOf } from "../../account/round_net";
import { RoundStory } from "../../account/round_story";
import type { PlayerRound } from "../../api/messages";
import { call, who } from "../../api/platform";
import { Sheet } from "../../design/sheet";
import { dictionary } from "../../words/language";
import { amount, cents } from "../../words/money";
import type { Felt } from "./felt";
import { colourClass, describe, numberOf } from "./outcome_words";
import "./own_rounds.css";

const words = dictionary(
  {
    title: "As suas últimas jogadas aqui",
    none: "Ponha fichas no tabuleiro. As suas jogadas ficam aqui, para as ver de novo.",
    staked: (sum: string) => `Apostou ${sum}`,
    noNumber: "–",
    again: "A jogada",
  },
  {
    title: "Your last rounds here",
    none: "Put chips on the board. Your rounds stay here, to be seen again.",
    staked: (sum: string) => `Staked ${sum}`,
    noNumber: "–",
    again: "The round",
  },
);

const SHOWN = 3;

interface Props {
  felt: Felt;
  /** The result of a round is called in its place. */
  covered: boolean;
}

export function OwnRounds({ felt, covered }: Props) {
  const rounds = useOwnRounds(felt);
  const [again, tellAgain] = useState<PlayerRound | null>(null);
  return (
    <>
      {rounds && !covered && <Listed felt={felt} rounds={rounds} onChoose={tellAgain} />}
      {again && (
        <Sheet title={words().again} onClose={() => tellAgain(null)} testId="own-round-told">
          <RoundStory round={again} />
        </Sheet>
      )}
    </>
  );
}

interface ListedProps {
  felt: Felt;
  rounds: readonly PlayerRound[];
  onChoose: (round: PlayerRound) => void;
}

function Listed({ felt, rounds, onChoose }: ListedProps) {
  const rolls = felt.story.spin.value?.key;
  const shown = rounds.filter(({ round }) => round?.round_id !== rolls).slice(0, SHOWN);
  return (
    <div class="own-rounds" data-testid="own-rounds">
      <h2>{words().title}</h2>
      {shown.length === 0 && <p class="quiet">{words().none}</p>}
      <ol>
        {shown.map((round) => (
          <li key={round.round?.round_id}>
            <OwnRound round={round} onChoose={() => onChoose(round)} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function OwnRound({ round, onChoose }: { round: PlayerRound; onChoose: () => void }) {
  const outcome = round.round?.outcome;
  const number = numberOf(outcome);
  return (
    <button type="button" class="own-round figures" onClick={onChoose} data-testid="own-round">
      <span class={number ? `own-round-number ${colourClass(number)}` : "own-round-number"}>
        <span aria-hidden="true">{number || words().noNumber}</span>
        <span class="unseen">{describe(outcome)}</span>
      </span>
      <span class="quiet">{words().staked(amount(cents(round.staked_cents), round.mode))}</span>
      <strong class={(netOf(round) ?? 0) > 0 ? "good" : ""}>{netInWords(round)}</strong>
    </button>
  );
}

/** Those that have ended; null before they are known. Read when he sits down, and when a round of his has been told. */
function useOwnRounds(felt: Felt): readonly PlayerRound[] | null {
  const [rounds, tell] = useState<readonly PlayerRound[] | null>(null);
  const table_id = felt.table.tableId.value;
  const told = felt.story.stage.value === "paid" ? felt.story.told.value : null;
  // Watching others costs no reading.
  const own = told?.settled && told.staked_cents > 0 ? told : null;
  const [last, setLast] = useState(own);
  if (own && own !== last) setLast(own);
  useEffect(() => {
    const player = who.value;
    if (player.kind === "nobody") return;
    let wanted = true;
    // One more than is shown: the newest may still be open.
    const asked = { game: "roulette", player_id: player.playerId, table_id, page_size: SHOWN + 1 };
    call("TableService.ListPlayerRounds", asked).then(
      (found) => {
        if (!wanted) return;
        if (found.rounds.length === 0) felt.slip.neverPlayed();
        tell(found.rounds.filter((round) => netOf(round) !== null));
      },
      // Without it the table says less, and nothing wrong.
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [table_id, last]);
  return rounds;
}
