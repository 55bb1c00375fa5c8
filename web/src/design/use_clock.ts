// Clocks for components that show passing time: they render again at an interval.
import { useEffect, useState } from "preact/hooks";
import { serverNow, sessionNow } from "../api/server_clock";

/** The platform's time, updated every so many milliseconds; 0 stops it. */
export function useServerNow(every_ms: number): number {
  return useClock(serverNow, every_ms);
}

/** The session clock's time, likewise. */
export function useSessionNow(every_ms: number): number {
  return useClock(sessionNow, every_ms);
}

function useClock(clock: () => number, every_ms: number): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    setNow(clock());
    if (!every_ms) return;
    const timer = setInterval(() => setNow(clock()), every_ms);
    return () => clearInterval(timer);
  }, [clock, every_ms]);
  return now;
}
