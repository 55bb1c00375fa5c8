// A table of a tournament as its players call it: by its number.

/** `7` of `sunday-t7`. */
export function tableName(tableId: string): string {
  return /-t(\d+)$/.exec(tableId)?.[1] ?? tableId;
}
