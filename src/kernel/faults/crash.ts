/**
 * Places where tests kill the process, to prove that nothing is lost, left half done, or done twice: before
 * and after the n-th commit or driver call of a kind. `compose/seams.ts` reaches them; no other code does.
 */

/** Prints each place that is reached instead of killing the process. */
export const LIST_PLACES = 'list';

/** `before compute.ensure 1`, or `after commit(events,servers) 2`. */
const PLACE = /^(?:before|after) [\w.]+(?:\([\w,]+\))? [1-9]\d{0,5}$/;

export function isCrashPlace(text: string): boolean {
  return text === LIST_PLACES || PLACE.test(text);
}

export class CrashPlaces {
  /** Of this process, which may open the service more than once. */
  static readonly #counts = new Map<string, number>();
  readonly #target: string;

  /** Kills the process with SIGKILL at this place. */
  constructor(target: string) {
    this.#target = target;
  }

  /** Reaches the place before the next effect of this kind. Call the result when the effect has happened. */
  begin(effect: string): () => void {
    const nth = (CrashPlaces.#counts.get(effect) ?? 0) + 1;
    CrashPlaces.#counts.set(effect, nth);
    this.#reach(`before ${effect} ${nth}`);
    return () => this.#reach(`after ${effect} ${nth}`);
  }

  #reach(place: string): void {
    if (this.#target === LIST_PLACES) process.stdout.write(`${place}\n`);
    if (this.#target === place) process.kill(process.pid, 'SIGKILL');
  }
}
