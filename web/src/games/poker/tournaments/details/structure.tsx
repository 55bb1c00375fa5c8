// The structure of a tournament: its levels with their blinds and breaks, and until when players may enter and buy chips.
import type { TournamentSummary } from "../../messages/messages";
import { countText } from "../words/counts";
import { lengthText } from "../words/state_text";
import { tournamentWords } from "../words/words";
import { notesOf } from "./structure_notes";

export function Structure({ summary }: { summary: TournamentSummary }) {
  const words = tournamentWords().structure;
  const { configuration, phase, level: current, on_break } = summary;
  const rules = configuration?.rules;
  if (!configuration || !rules) return null;
  const running = phase === "TOURNAMENT_PHASE_RUNNING";
  return (
    <div class="tournament-structure">
      <ul class="tournament-notes">
        {notesOf(rules, configuration.mode).map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      <table class="tournament-table figures" data-testid="structure">
        <caption>{words.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{words.level}</th>
            <th scope="col">{words.blinds}</th>
            <th scope="col">{words.length}</th>
          </tr>
        </thead>
        <tbody>
          {rules.levels.flatMap((level, at) => {
            const number = at + 1;
            const last = number === rules.levels.length;
            const isNow = running && number === current;
            return [
              <tr key={number} aria-current={isNow && !on_break ? "true" : undefined} data-testid={`level-${number}`}>
                <th scope="row">
                  {number}
                  {isNow && !on_break && <span class="tag brass">{words.now}</span>}
                </th>
                <td>
                  {countText(level.small_blind)} / {countText(level.big_blind)}
                </td>
                <td>{last ? words.toEnd : lengthText(level.seconds)}</td>
              </tr>,
              level.break_seconds > 0 && !last && (
                <tr
                  key={`${number} break`}
                  class="tournament-break"
                  aria-current={isNow && on_break ? "true" : undefined}
                  data-testid={`break-${number}`}
                >
                  <td colSpan={3}>
                    {words.breakFor(lengthText(level.break_seconds))}
                    {isNow && on_break && <span class="tag brass">{words.now}</span>}
                  </td>
                </tr>
              ),
            ];
          })}
        </tbody>
      </table>
    </div>
  );
}
