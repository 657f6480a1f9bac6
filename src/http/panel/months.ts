/** Calendar months for statements, in UTC. */

/** Returns the first moment of a month such as `2026-11`, or undefined if the text does not name one. */
export function parseMonth(text: string): Date | undefined {
  if (!/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text)) return undefined;
  return new Date(`${text}-01T00:00:00Z`);
}

export function startOfMonth(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

/** `first` is the first moment of a month. */
export function addMonths(first: Date, months: number): Date {
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + months));
}

/** `November 2026`. */
export function formatMonth(first: Date): string {
  return first.toLocaleString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}
