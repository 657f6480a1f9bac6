/** Loops repeat one effect as often as they have time. The first repetitions stand for the others. */
const REPEATS_MAX = 3;

/** Returns the places that a process with SKERRY_CRASH_AT=list printed. */
export function parsePlaces(stdout: string): readonly string[] {
  const places = [...stdout.matchAll(/^(?:before|after) \S+ (\d+)$/gm)];
  return places.filter(([, nth]) => Number(nth) <= REPEATS_MAX).map(([place]) => place);
}
