// Reads the layout of a table before its felt is shown, and again when the table goes by other rules.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { dictionary } from "../../words/language";
import type { LiveTable } from "./live_table";
import { resultPending } from "./result_pending";
import "./laid_table.css";

const laidTableWords = dictionary(
  {
    loading: "A preparar a mesa…",
    failed: "Não foi possível preparar a mesa.",
    again: "Tentar de novo",
  },
  {
    loading: "The table is being prepared…",
    failed: "The table could not be prepared.",
    again: "Try again",
  },
);

interface Props<Layout> {
  table: LiveTable;
  readLayout: (table_id: string) => Promise<Layout>;
  /** Shows the felt; what it returns has the key, so that each layout has a felt of its own. */
  children: (layout: Layout, key: string) => ComponentChildren;
}

export function LaidTable<Layout>({ table, readLayout, children }: Props<Layout>) {
  const tableId = table.tableId.value;
  const snapshot = table.snapshot.value;
  const version = snapshot?.round?.configuration_version ?? snapshot?.configuration_version;
  const [layout, setLayout] = useState<{ of: string; is: Layout } | null>(null);
  const [failed, setFailed] = useState(false);
  const [tries, setTries] = useState(0);
  const layoutKey = `${tableId} ${version} ${tries}`;
  useEffect(() => {
    let mounted = true;
    setFailed(false);
    readLayout(tableId).then(
      (is) => mounted && setLayout({ of: `${tableId} ${version}`, is }),
      () => {
        if (!mounted) return;
        setFailed(true);
        // Without a felt no result is being shown.
        resultPending.value = false;
      },
    );
    return () => {
      mounted = false;
    };
  }, [layoutKey]);
  const words = laidTableWords();
  if (failed) {
    return (
      <div class="laid-table-wait" role="alert">
        <p>{words.failed}</p>
        <button type="button" class="button" onClick={() => setTries(tries + 1)}>
          {words.again}
        </button>
      </div>
    );
  }
  if (!layout) return <p class="laid-table-wait quiet">{words.loading}</p>;
  return <>{children(layout.is, layout.of)}</>;
}
