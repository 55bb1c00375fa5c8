// The size of an element, updated whenever it changes.
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export interface Size {
  width: number;
  height: number;
}

export function useElementSize(element: RefObject<HTMLElement>): Size | null {
  const [size, setSize] = useState<Size | null>(null);
  useLayoutEffect(() => {
    const watched = element.current;
    if (!watched) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = watched;
      setSize((last) => (last?.width === width && last.height === height ? last : { width, height }));
    };
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(watched);
    return () => watching.disconnect();
  }, [element]);
  return size;
}
