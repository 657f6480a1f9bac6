/** CSV for spreadsheets. */

export type CsvValue = string | number | boolean | null | undefined;

/** Formats rows under a heading, with the line ends of RFC 4180. Null is an empty cell. */
export function formatCsv(heading: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [heading, ...rows].map(formatCsvRow).join('');
}

export function formatCsvRow(row: readonly CsvValue[]): string {
  return `${row.map(formatCell).join(',')}\r\n`;
}

/** A spreadsheet runs text that begins with one of these signs as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function formatCell(value: CsvValue): string {
  if (typeof value === 'number') return String(value);
  const text = String(value ?? '');
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
