/** Rows as aligned columns, the first row being the heading. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** `3 servers`, `1 server`. */
export function formatCount(count: number | bigint, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 || count === 1n ? one : many}`;
}

/** Said beside a list that does not show all there is. */
export function formatMoreHint(shown: number, one: string, many?: string): string {
  return `there are more than ${formatCount(shown, one, many)}: --limit shows more of them`;
}

/** What is known of one thing, a fact a line; those that are null are left out. */
export function formatFacts(rows: readonly (readonly [name: string, value: string | null])[]): string[] {
  return formatTable(rows.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}
