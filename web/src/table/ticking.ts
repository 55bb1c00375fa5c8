// A component that shows passing time: rendered again and again, by the server's clock.
import { useEffect, useState } from "preact/hooks";
import { serverNow, sessionNow } from "../api/server_clock";

/** What the server's clock shows, told anew every so many milliseconds; 0 stands still. */
export function useServerNow(every_ms: number): number {
  return useNow(serverNow, every_ms);
}

/** The same of the clock that sessions live by. */
export function useSessionNow(every_ms: number): number {
  return useNow(sessionNow, every_ms);
}

function useNow(clock: () => number, every_ms: number): number {
  const [now, tell] = useState(clock);
  useEffect(() => {
    tell(clock());
    if (!every_ms) return;
    const ticking = setInterval(() => tell(clock()), every_ms);
    return () => clearInterval(ticking);
  }, [clock, every_ms]);
  return now;
}
