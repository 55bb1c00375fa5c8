// The list of tables for as long as somebody looks at it.
import { useEffect, useState } from "preact/hooks";
import { who } from "../api/platform";
import { Abandoned } from "../api/refusal";
import { readTables } from "./tables";

// Tables are switched on and off, and made: the list is read again and again.
const READ_AGAIN_MS = 30_000;

/** Whether reading it failed, and how to read it now. */
export function useTables(): { failed: boolean; read: () => void } {
  const [failed, fail] = useState(false);
  // Whoever logs in or out gets another connection, on which everything is asked for anew.
  const { kind } = who.value;
  const read = () =>
    void readTables().then(
      () => fail(false),
      (error) => fail(!(error instanceof Abandoned)),
    );
  useEffect(() => {
    read();
    const again = setInterval(read, READ_AGAIN_MS);
    return () => clearInterval(again);
  }, [kind]);
  return { failed, read };
}
