// Reads a list from the platform page by page, newest first.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { asRefusal, CallAbandoned, type Refusal } from "../api/refusal";

export interface PageOf<T> {
  items: readonly T[];
  /** The token of the next page; empty on the last one. */
  next: string;
}

export interface Paged<T> {
  /** Null until the first page has been read. */
  items: readonly T[] | null;
  /** There is another page. */
  more: boolean;
  reading: boolean;
  refusal: Refusal | null;
  readMore: () => void;
  /** Reads again from the first page. */
  restart: () => void;
}

/** The fields of a request that ask for a page; without a token for the first one. */
export function pageRequest(page_size: number, token: string): { page_size: number; page_token?: string } {
  return token ? { page_size, page_token: token } : { page_size };
}

/** `about` identifies the list: when it changes, reading starts over. */
export function usePages<T>(about: string, read: (token: string) => Promise<PageOf<T>>): Paged<T> {
  const [items, setItems] = useState<readonly T[] | null>(null);
  const [next, setNext] = useState("");
  const [reading, setReading] = useState(true);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const latestRequest = useRef(0);
  const reader = useRef(read);
  reader.current = read;

  const ask = useCallback((token: string) => {
    const thisRequest = ++latestRequest.current;
    setReading(true);
    setRefusal(null);
    reader.current(token).then(
      (page) => {
        if (thisRequest !== latestRequest.current) return;
        setItems((before) => (token ? [...(before ?? []), ...page.items] : page.items));
        setNext(page.next);
        setReading(false);
      },
      (error) => {
        if (thisRequest !== latestRequest.current || error instanceof CallAbandoned) return;
        setReading(false);
        setRefusal(asRefusal(error));
      },
    );
  }, []);

  // Starts over when the list is another one
  useEffect(() => {
    setItems(null);
    ask("");
    return () => {
      latestRequest.current += 1;
    };
  }, [about, ask]);

  return { items, more: next !== "", reading, refusal, readMore: () => ask(next), restart: () => ask("") };
}
