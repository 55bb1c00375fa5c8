// The tables of tournaments: as players call them, by their numbers, and which tournament each is of.

const TABLE = /-t(\d+)$/;

/** `7` of `sunday-t7`. */
export function tableName(tableId: string): string {
  return TABLE.exec(tableId)?.[1] ?? tableId;
}

/** `sunday` of `sunday-t7`. */
export function tournamentOf(tableId: string): string {
  return tableId.replace(TABLE, "");
}
