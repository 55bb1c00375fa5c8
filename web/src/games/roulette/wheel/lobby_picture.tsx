// The wheel of a table for the lobby, at rest.
import type { TableConfiguration } from "../../../api/messages";
import type { SpecificRules } from "../layout/messages";
import { pocketsOf } from "../layout/pockets";
import { Bowl, LightOnRotor, Rotor } from "./wheel_drawing";
import "./wheel.css";

export function LobbyPicture({ configuration }: { configuration: TableConfiguration }) {
  const pockets = pocketsOf((configuration.rules as SpecificRules | undefined)?.wheel);
  return (
    <div class="lobby-wheel" aria-hidden="true">
      <div class="wheel">
        <Bowl />
        <div class="wheel-layer wheel-leaning">
          <Rotor pockets={pockets} />
        </div>
        <LightOnRotor />
      </div>
    </div>
  );
}
