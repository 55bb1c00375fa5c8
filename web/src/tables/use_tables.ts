// Keeps the list of tables up to date while a component shows it.
import { useEffect, useState } from "preact/hooks";
import { identity } from "../api/platform";
import { CallAbandoned } from "../api/refusal";
import { readTables } from "./tables";

// Tables are added, enabled and disabled at any time.
const READ_AGAIN_MS = 30_000;

/** Whether reading the list failed, and a function that reads it now. */
export function useTables(): { failed: boolean; read: () => void } {
  const [failed, setFailed] = useState(false);
  // Logging in or out opens another connection, on which the list is read again.
  const { kind } = identity.value;
  const read = () =>
    void readTables().then(
      () => setFailed(false),
      (error) => setFailed(!(error instanceof CallAbandoned)),
    );
  useEffect(() => {
    read();
    const again = setInterval(read, READ_AGAIN_MS);
    return () => clearInterval(again);
  }, [kind]);
  return { failed, read };
}
