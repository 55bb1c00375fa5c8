// Chips on their way: bets to the pot, prizes to the winners. Players who prefer reduced motion see the amounts change alone.
import { useLayoutEffect, useRef } from "preact/hooks";
import { prefersStillness, timingOf } from "../../../cards/card_motion";
import type { Point, TableGeometry } from "../layout/geometry";
import { ChipPile } from "../seats/chip_pile";
import type { Scene } from "../seats/scene";

type Moving = NonNullable<Scene["moving"]>[number];

export function MovingChips({ scene, geometry }: { scene: Scene; geometry: TableGeometry }) {
  if (prefersStillness()) return null;
  return (
    <div aria-hidden="true" data-testid="moving">
      {(scene.moving ?? []).map((chips) => (
        <Flight key={chips.key} chips={chips} scene={scene} geometry={geometry} />
      ))}
    </div>
  );
}

function Flight({ chips, scene, geometry }: { chips: Moving; scene: Scene; geometry: TableGeometry }) {
  const root = useRef<HTMLDivElement>(null);
  const from = pointOf(chips.from, geometry, "bet");
  const to = pointOf(chips.to, geometry, "plate");
  useLayoutEffect(() => {
    const timing = timingOf(chips.span, performance.now());
    if (!root.current || !timing) return;
    const there = `translate(${to.x - from.x}px, ${to.y - from.y}px)`;
    const frames = [
      { transform: "none", opacity: 1 },
      { transform: there, opacity: 1, offset: 0.85 },
      { transform: there, opacity: 0 },
    ];
    const animation = root.current.animate(frames, {
      ...timing,
      fill: "both",
      easing: "cubic-bezier(0.3, 0.1, 0.3, 1)",
    });
    return () => animation.cancel();
  }, [chips.key]);
  return (
    <div ref={root} class="poker-flight" style={{ left: `${from.x}px`, top: `${from.y}px` }}>
      <ChipPile value={chips.cents} least={scene.least} unit={scene.mode} size={geometry.chip} />
    </div>
  );
}

function pointOf(place: number | "pot", geometry: TableGeometry, part: "bet" | "plate"): Point {
  const seat = place === "pot" ? undefined : geometry.seats[place - 1];
  return seat ? seat[part] : geometry.pots;
}
