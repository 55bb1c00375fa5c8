// One card on a table: it slides from the shoe, is turned, and is collected.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { CardBack, CardFace } from "./card_face";
import { offsetBetween, prefersStillness, type Span, timingOf } from "./card_motion";
import { cardText, parseCard } from "./card_names";
import "./playing_card.css";

interface Props {
  /** `As`, `Td`; empty for a card that lies face down. A name that comes later turns the card. */
  name: string;
  /** When it slides to its place; until then it is not seen. A card without lies there. */
  dealt?: Span | undefined;
  /** Where it slides from; without, it falls from a little above. */
  from?: RefObject<Element> | undefined;
  /** When it leaves the table. */
  collected?: Span | undefined;
  /** Where it leaves to. */
  to?: RefObject<Element> | undefined;
  /** What is around it says which card it is. */
  silent?: boolean;
  class?: string;
}

const EASE_OUT = "cubic-bezier(0.2, 0.7, 0.3, 1)";
const EASE_IN = "cubic-bezier(0.6, 0, 0.8, 0.4)";

/** As wide as `--card-width` says. Players who prefer reduced motion see it come and go at the same moments, unmoved. */
export function PlayingCard({ name, dealt, from, collected, to, silent = false, class: more = "" }: Props) {
  const root = useRef<HTMLSpanElement>(null);
  const card = parseCard(name);
  useLayoutEffect(() => move(root.current, dealt, from?.current, "arrives"), [dealt?.from_ms, dealt?.until_ms]);
  useLayoutEffect(
    () => move(root.current, collected, to?.current, "leaves"),
    [collected?.from_ms, collected?.until_ms],
  );
  const alternative = silent ? { "aria-hidden": true } : { role: "img" as const, "aria-label": cardText(name) };
  return (
    <span ref={root} class={`playing-card ${card ? "card-up" : "card-down"} ${more}`} data-card={name} {...alternative}>
      <span class="card-turning">
        {card && <CardFace card={card} />}
        <CardBack />
      </span>
    </span>
  );
}

/** Plays a movement, as far as it is not over; the returned function stops it. */
function move(
  card: HTMLElement | null,
  span: Span | undefined,
  other: Element | null | undefined,
  way: "arrives" | "leaves",
): (() => void) | undefined {
  if (!card || !span) return undefined;
  const timing = timingOf(span, performance.now());
  if (!timing && way === "arrives") return undefined;
  const away = awayFrom(card, other);
  const still = prefersStillness();
  const there = still ? {} : { transform: `translate(${away.x}px, ${away.y}px) rotate(-14deg) scale(0.92)` };
  const frames: Keyframe[] =
    way === "arrives"
      ? [
          { ...there, opacity: still ? 0 : 0.4 },
          { opacity: 1, offset: still ? 1 : 0.25 },
          { opacity: 1, transform: "none" },
        ]
      : [
          { transform: "none", opacity: 1 },
          { opacity: still ? 0 : 1, offset: 0.75 },
          { ...there, opacity: 0 },
        ];
  const animation = card.animate(frames, {
    ...(timing ?? { delay: 0, duration: 0 }),
    fill: way === "arrives" ? "backwards" : "both",
    easing: still ? "step-end" : way === "arrives" ? EASE_OUT : EASE_IN,
  });
  return () => animation.cancel();
}

function awayFrom(card: HTMLElement, other: Element | null | undefined): { x: number; y: number } {
  const box = card.getBoundingClientRect();
  return other ? offsetBetween(box, other.getBoundingClientRect()) : { x: 0, y: -0.6 * box.height };
}
