/** The options of `npm run survive`. Each refusal names its option. */
import { parseArgs } from 'node:util';

const MINUTE_MS = 60_000;
const SEEDS_MAX = 1_000;
const MINUTES_MAX = 24 * 60;

export interface SurviveOptions {
  readonly firstSeed: number;
  readonly seeds: number;
  readonly forMs: number;
  readonly shrinkMs: number;
  /** The file of a history to run again. */
  readonly history: string | null;
  readonly cluster: boolean;
  readonly quiet: boolean;
}

export function parseOptions(args: readonly string[]): SurviveOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '2' },
      history: { type: 'string' },
      cluster: { type: 'boolean', default: false },
      'shrink-minutes': { type: 'string', default: '10' },
      quiet: { type: 'boolean', default: false },
    },
  });
  const { seed, seeds, minutes, history = null, cluster, quiet } = values;
  return {
    firstSeed: seed === undefined ? Math.floor(Math.random() * 1_000_000) : wholeNumber('seed', seed),
    seeds: wholeNumber('seeds', seeds, { min: 1, max: SEEDS_MAX }),
    forMs: toMs('minutes', minutes),
    shrinkMs: toMs('shrink-minutes', values['shrink-minutes']),
    ...{ history, cluster, quiet },
  };
}

function wholeNumber(name: string, text: string, { min = 0, max = 2 ** 31 } = {}): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`--${name} must be a whole number from ${min} to ${max}`);
}

function toMs(name: string, text: string): number {
  const value = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0 && value <= MINUTES_MAX) return value * MINUTE_MS;
  throw new Error(`--${name} must be a number of minutes above 0, at most ${MINUTES_MAX}`);
}
