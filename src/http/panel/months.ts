/** Calendar months of statements, in UTC. */

/** The first moment of the month that a word names, `2026-11`; undefined: it names none. */
export function monthOf(word: string): Date | undefined {
  if (!/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(word)) return undefined;
  return new Date(`${word}-01T00:00:00Z`);
}

export function firstOf(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

/** `first` is the first moment of a month. */
export function addMonth(first: Date, months: number): Date {
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + months));
}

/** `November 2026`. */
export function monthName(first: Date): string {
  return first.toLocaleString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
}
