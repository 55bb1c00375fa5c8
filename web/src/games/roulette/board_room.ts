// How much room an element has, told again whenever that changes.
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export interface Room {
  width: number;
  height: number;
}

export function useRoom(element: RefObject<HTMLElement>): Room | null {
  const [room, tell] = useState<Room | null>(null);
  useLayoutEffect(() => {
    const watched = element.current;
    if (!watched) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = watched;
      tell((known) => (known?.width === width && known.height === height ? known : { width, height }));
    };
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(watched);
    return () => watching.disconnect();
  }, [element]);
  return room;
}
