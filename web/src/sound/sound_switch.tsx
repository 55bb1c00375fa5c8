// The switch for all sounds.
import { Icon } from "../design/icon";
import { dictionary } from "../words/language";
import { muted } from "./sound";

const soundSwitchWords = dictionary(
  { mute: "Desligar o som", unmute: "Ligar o som" },
  { mute: "Mute", unmute: "Unmute" },
);

export function SoundSwitch() {
  const name = muted.value ? soundSwitchWords().unmute : soundSwitchWords().mute;
  return (
    <button
      type="button"
      class="button plain icon"
      aria-label={name}
      title={name}
      data-testid="sound-switch"
      onClick={() => {
        muted.value = !muted.value;
      }}
    >
      <Icon name={muted.value ? "mute" : "sound"} />
    </button>
  );
}
