// A list that the platform gives in pages, newest first: what has been read so far, and how to read on.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Abandoned, Refusal } from "../api/refusal";

export interface PageOf<T> {
  items: readonly T[];
  /** Empty on the last page. */
  next: string;
}

export interface Paged<T> {
  /** Null until the first page is here. */
  items: readonly T[] | null;
  /** There is more to read. */
  more: boolean;
  reading: boolean;
  refusal: Refusal | null;
  readOn: () => void;
  /** From the beginning. */
  afresh: () => void;
}

/** `about` says what is listed: when it changes, the list begins anew. */
export function usePages<T>(about: string, read: (token: string) => Promise<PageOf<T>>): Paged<T> {
  const [items, setItems] = useState<readonly T[] | null>(null);
  const [next, setNext] = useState("");
  const [reading, setReading] = useState(true);
  const [refusal, refuse] = useState<Refusal | null>(null);
  const wanted = useRef(0);
  const reader = useRef(read);
  reader.current = read;

  const ask = useCallback((token: string) => {
    const mine = ++wanted.current;
    setReading(true);
    refuse(null);
    reader.current(token).then(
      (page) => {
        if (mine !== wanted.current) return;
        setItems((before) => (token ? [...(before ?? []), ...page.items] : page.items));
        setNext(page.next);
        setReading(false);
      },
      (error) => {
        if (mine !== wanted.current || error instanceof Abandoned) return;
        setReading(false);
        refuse(error instanceof Refusal ? error : new Refusal("", {}, "", String(error)));
      },
    );
  }, []);

  // What it is about decides when to begin anew
  useEffect(() => {
    setItems(null);
    ask("");
    return () => {
      wanted.current += 1;
    };
  }, [about, ask]);

  return { items, more: next !== "", reading, refusal, readOn: () => ask(next), afresh: () => ask("") };
}
