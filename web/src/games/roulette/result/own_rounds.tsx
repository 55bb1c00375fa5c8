// The player's last rounds at this table, beside the wheel; a click opens one.
import { useEffect, useState } from "preact/hooks";
import type { PlayerRound } from "../../../api/messages";
import { call, identity } from "../../../api/platform";
import { Sheet } from "../../../design/overlays/sheet";
import { roundNet, roundNetText } from "../../../rounds/round_net";
import { RoundStory } from "../../../rounds/round_story";
import { dictionary } from "../../../words/language";
import { amount, cents } from "../../../words/money";
import type { Felt } from "../felt/felt";
import { colourClass, describeOutcome, drawnNumber } from "../words/outcomes";
import "./own_rounds.css";

const ownRoundsWords = dictionary(
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
  /** The plaque is shown in its place. */
  covered: boolean;
}

export function OwnRounds({ felt, covered }: Props) {
  const rounds = useOwnRounds(felt);
  const [openRound, setOpenRound] = useState<PlayerRound | null>(null);
  return (
    <>
      {rounds && !covered && <OwnRoundList felt={felt} rounds={rounds} onChoose={setOpenRound} />}
      {openRound && (
        <Sheet title={ownRoundsWords().again} onClose={() => setOpenRound(null)} testId="own-round-told">
          <RoundStory game="roulette" round={openRound} />
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

function OwnRoundList({ felt, rounds, onChoose }: ListedProps) {
  const rolls = felt.sequence.spin.value?.key;
  const shown = rounds.filter(({ round }) => round?.round_id !== rolls).slice(0, SHOWN);
  return (
    <div class="own-rounds" data-testid="own-rounds">
      <h2>{ownRoundsWords().title}</h2>
      {shown.length === 0 && <p class="quiet">{ownRoundsWords().none}</p>}
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
  const number = drawnNumber(outcome);
  return (
    <button type="button" class="own-round figures" onClick={onChoose} data-testid="own-round">
      <span class={number ? `own-round-number ${colourClass(number)}` : "own-round-number"}>
        <span aria-hidden="true">{number || ownRoundsWords().noNumber}</span>
        <span class="unseen">{describeOutcome(outcome)}</span>
      </span>
      <span class="quiet">{ownRoundsWords().staked(amount(cents(round.staked_cents), round.mode))}</span>
      <strong class={(roundNet(round) ?? 0) > 0 ? "good" : ""}>{roundNetText(round)}</strong>
    </button>
  );
}

/** The rounds that have ended; null before they are known. Read at the beginning and after each round with own bets. */
function useOwnRounds(felt: Felt): readonly PlayerRound[] | null {
  const [rounds, setRounds] = useState<readonly PlayerRound[] | null>(null);
  const table_id = felt.table.tableId.value;
  const result = felt.sequence.stage.value === "paid" ? felt.sequence.result.value : null;
  // Rounds without own bets cost no reading.
  const own = result?.settled && result.staked_cents > 0 ? result : null;
  const [last, setLast] = useState(own);
  if (own && own !== last) setLast(own);
  useEffect(() => {
    const player = identity.value;
    if (player.kind === "nobody") return;
    let mounted = true;
    // One more than is shown: the newest may still be open.
    const request = { game: "roulette", player_id: player.playerId, table_id, page_size: SHOWN + 1 };
    call("TableService.ListPlayerRounds", request).then(
      (found) => {
        if (!mounted) return;
        if (found.rounds.length === 0) felt.slip.noEarlierRounds();
        setRounds(found.rounds.filter((round) => roundNet(round) !== null));
      },
      // Without the rounds the table shows less, and nothing wrong.
      () => undefined,
    );
    return () => {
      mounted = false;
    };
  }, [table_id, last]);
  return rounds;
}
