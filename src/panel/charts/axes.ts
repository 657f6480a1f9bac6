/** Chart axes: amounts from 0 up in a unit that keeps numbers short, and times in UTC. */
import { scaleLinear, scaleUtc } from 'd3-scale';

/** Units of values. Rates are bytes per second, as in the API. Network rates are shown in bits, as sold. */
export type ChartUnit = 'percent' | 'mebibytes' | 'bytes_per_s' | 'bits_per_s' | 'usd' | 'count';

interface UnitScale {
  /** Unit names and their sizes, smallest first. */
  readonly sizes: readonly UnitSize[];
  readonly base: 2 | 10;
  /** The smallest top of an axis, so that tiny values do not look large. */
  readonly minTop: number;
}
type UnitSize = readonly [name: string, size: number];

const UNITS: Readonly<Record<ChartUnit, UnitScale>> = {
  percent: { sizes: [['%', 1]], base: 10, minTop: 10 },
  mebibytes: {
    sizes: [
      ['MiB', 1],
      ['GiB', 2 ** 10],
      ['TiB', 2 ** 20],
    ],
    base: 2,
    minTop: 16,
  },
  bytes_per_s: {
    sizes: [
      ['B/s', 1],
      ['kB/s', 1e3],
      ['MB/s', 1e6],
      ['GB/s', 1e9],
    ],
    base: 10,
    minTop: 1e3,
  },
  bits_per_s: {
    sizes: [
      ['bit/s', 1 / 8],
      ['kbit/s', 1e3 / 8],
      ['Mbit/s', 1e6 / 8],
      ['Gbit/s', 1e9 / 8],
    ],
    base: 10,
    minTop: 1e3 / 8,
  },
  usd: {
    sizes: [
      ['USD', 1],
      ['thousand USD', 1e3],
      ['million USD', 1e6],
    ],
    base: 10,
    minTop: 10,
  },
  count: { sizes: [['', 1]], base: 10, minTop: 4 },
};

/** Larger amounts are errors, and their labels would fill the chart. */
const AMOUNT_MAX = 1e12;
const INTERVALS = 4;
const DAY_S = 86_400;

export interface Tick {
  readonly at: number;
  readonly text: string;
}

export interface AmountAxis {
  /** The unit's name: `kbit/s`. */
  readonly name: string;
  readonly ticks: readonly Tick[];
  readonly top: number;
}

/** Clamps an amount to the range that an axis can show. */
export function clampAmount(value: number): number {
  return Math.min(Math.max(value, 0), AMOUNT_MAX);
}

/** Formats an amount with three digits in the largest unit that fits: `1.5 GiB`, `340 kbit/s`, `12.3%`. */
export function formatAmount(value: number, unit: ChartUnit): string {
  const amount = clampAmount(Number.isFinite(value) ? value : 0);
  const [name, size] = sizeFor(unit, amount);
  const inUnit = amount / size;
  const number = inUnit >= 100 ? Math.round(inUnit) : Number(inUnit.toPrecision(3));
  return name === '%' ? `${number}%` : `${number} ${name}`.trimEnd();
}

export function amountAxis(unit: ChartUnit, maxTicks: number): AmountAxis {
  const { base, minTop } = UNITS[unit];
  const highest = Math.max(clampAmount(maxTicks), minTop);
  // An axis that ends at 1,000 of a unit uses the next unit instead.
  const [, smaller] = sizeFor(unit, highest);
  const [name, size] = sizeFor(unit, niceTop(highest / smaller, base) * smaller);
  const top = niceTop(highest / size, base);
  return {
    name,
    top: top * size,
    ticks: tickValues(top, base).map((at) => ({ at: at * size, text: formatNumber(at) })),
  };
}

function sizeFor(unit: ChartUnit, amount: number): UnitSize {
  const { sizes } = UNITS[unit];
  return sizes.findLast(([, size]) => amount >= size) ?? sizes[0] ?? ['', 1];
}

/** Memory uses powers of two. */
function binaryStep(highest: number): number {
  return 2 ** Math.ceil(Math.log2(highest / INTERVALS));
}

function niceTop(highest: number, base: 2 | 10): number {
  if (base === 2) return Math.ceil(highest / binaryStep(highest)) * binaryStep(highest);
  return scaleLinear().domain([0, highest]).nice(INTERVALS).domain()[1] ?? highest;
}

function tickValues(top: number, base: 2 | 10): number[] {
  if (base === 10) return scaleLinear().domain([0, top]).ticks(INTERVALS);
  return Array.from({ length: Math.round(top / binaryStep(top)) + 1 }, (_, index) => index * binaryStep(top));
}

function formatNumber(value: number): string {
  return String(Number(value.toPrecision(12)));
}

/** Returns as many time labels as fit, in the shortest form that is clear: `18:00`, `Mar 12`. */
export function timeTicks(startS: number, endS: number, widthPx: number): Tick[] {
  const spanS = endS - startS;
  const withDay = spanS <= 8 * DAY_S;
  const maxTicks = Math.max(2, Math.floor(widthPx / (withDay && spanS > 2 * DAY_S ? 90 : 68)));
  const scale = scaleUtc().domain([startS * 1_000, endS * 1_000]);
  // d3 treats the count as a hint, so reduce it until the labels fit.
  for (let count = maxTicks; ; count--) {
    const times = scale.ticks(count);
    if (times.length > maxTicks && count > 1) continue;
    return times.map((time) => ({ at: time.getTime() / 1_000, text: formatTick(time, withDay) }));
  }
}

function formatTick(time: Date, withDay: boolean): string {
  if (time.getTime() % (DAY_S * 1_000) !== 0) return time.toISOString().slice(11, 16);
  return withDay ? `${formatDatePart(time, { weekday: 'short' })} ${formatDay(time)}` : formatDay(time);
}

function formatDay(time: Date): string {
  return `${formatDatePart(time, { month: 'short' })} ${time.getUTCDate()}`;
}

/** `Mar 3, 18:00`. */
export function formatDateTime(timeS: number): string {
  const time = new Date(timeS * 1_000);
  return `${formatDay(time)}, ${time.toISOString().slice(11, 16)}`;
}

function formatDatePart(time: Date, part: Intl.DateTimeFormatOptions): string {
  return time.toLocaleDateString('en-US', { ...part, timeZone: 'UTC' });
}
