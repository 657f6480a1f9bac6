import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ChartUnit, formatAmount } from '../../../src/panel/charts/axes.ts';
import { chartAlt, lineChartSvg } from '../../../src/panel/charts/chart.ts';
import type { LineChart } from '../../../src/panel/charts/plot.ts';
import { chartValues } from '../../../src/panel/charts/values.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** Friday, March 6, 2026, noon. */
const END_S = Date.UTC(2026, 2, 6, 12) / 1_000;

function chart(changes: Partial<LineChart> = {}): LineChart {
  return {
    title: 'Processor',
    unit: 'percent',
    series: [{ name: 'Processor', points: hourlyPoints(24, () => 30) }],
    startS: END_S - DAY_S,
    endS: END_S,
    stepS: HOUR_S,
    width: 720,
    height: 240,
    theme: 'light',
    ...changes,
  };
}

/** Returns one point per hour, oldest first. */
function hourlyPoints(count: number, value: (index: number) => number): [number, number][] {
  return Array.from({ length: count }, (_, index) => [END_S - (count - index) * HOUR_S, value(index)]);
}

function svgTexts(svg: string): string[] {
  return [...svg.matchAll(/>([^<>\n]+)</g)].map(([, text = '']) => text);
}

/** Returns the drawn lines, each as its segments. */
function svgLines(svg: string): string[][] {
  return [...svg.matchAll(/<path d="([^"]*)" fill="none"/g)].map(([, path = '']) => path.split('M').slice(1));
}

const oneSeries = (points: LineChart['series'][number]['points'], unit: ChartUnit = 'percent') =>
  lineChartSvg(chart({ unit, series: [{ name: 'Processor', points }] }));

describe('a chart', () => {
  it('a chart shows its title, its unit, amounts from 0, and times in UTC', () => {
    const shown = svgTexts(lineChartSvg(chart()));
    assert.deepEqual(shown.slice(0, 7), ['Processor', '%', '0', '10', '20', '30', 'UTC']);
    assert.deepEqual(shown.slice(7), [
      '12:00',
      '15:00',
      '18:00',
      '21:00',
      'Fri Mar 6',
      '03:00',
      '06:00',
      '09:00',
      '12:00',
    ]);
  });

  it('a chart of a month labels days', () => {
    const svg = lineChartSvg(chart({ startS: END_S - 30 * DAY_S }));
    assert.deepEqual(svgTexts(svg).slice(-5), ['UTC', 'Feb 8', 'Feb 15', 'Feb 22', 'Mar 1']);
  });

  it('a chart leaves a gap where data is missing', () => {
    const whole = hourlyPoints(24, (index) => index);
    assert.equal(svgLines(oneSeries(whole))[0]?.length, 1);
    const holed = whole.filter((_, index) => index < 6 || index > 9);
    assert.equal(svgLines(oneSeries(holed))[0]?.length, 2);
  });

  it('a chart shows a single point between two gaps', () => {
    const points = hourlyPoints(24, () => 5).filter((_, index) => index < 6 || index === 12 || index > 20);
    assert.equal(oneSeries(points).match(/<circle/g)?.length, 1);
    assert.equal(oneSeries(points.slice(0, 1)).match(/<circle/g)?.length, 1);
  });

  it('a chart tells its values at each time that it shows', () => {
    const inbound = hourlyPoints(24, (index) => index * 125_000);
    const outbound = inbound.filter((_, index) => index !== 5);
    const series = [
      { name: 'inbound', points: inbound },
      { name: 'outbound', points: outbound },
    ];
    const { names, moments, width } = chartValues(chart({ unit: 'bits_per_s', series }));
    assert.deepEqual([names, width, moments.length], [['inbound', 'outbound'], 720, 24]);
    assert.deepEqual(moments[5]?.texts, ['5 Mbit/s', '–']);
    assert.equal(moments[5]?.y[1], null);
    assert.equal(moments[5]?.time, 'Mar 5, 17:30 UTC');
    assert.ok(moments.every(({ x }, index) => index === 0 || x > (moments[index - 1]?.x ?? 0)));
  });

  it('a plain chart is a line without text', () => {
    const svg = lineChartSvg(chart({ plain: true }));
    assert.deepEqual(svgTexts(svg), []);
    assert.equal(svgLines(svg).length, 1);
  });

  it('a chart without data says so', () => {
    assert.match(oneSeries([]), /No data yet/);
    assert.match(chartAlt(chart({ series: [{ name: 'In', points: [] }] })), /In: no data yet\.$/);
  });

  it('a chart places a point in the middle of the period that it averages', () => {
    const [first = ''] = svgLines(oneSeries(hourlyPoints(24, () => 30)))[0] ?? [];
    const [, from = 0] = /^([\d.]+),/.exec(first) ?? [];
    const [, to = 0] = /L([\d.]+),[\d.]+$/.exec(first) ?? [];
    const [, axis = 0, end = 0] = /d="M([\d.]+),[\d.]+H([\d.]+)"/.exec(oneSeries([])) ?? [];
    const halfHourPx = (Number(end) - Number(axis)) / 48;
    assert.ok(Math.abs(Number(from) - Number(axis) - halfHourPx) < 0.2);
    assert.ok(Math.abs(Number(end) - Number(to) - halfHourPx) < 0.2);
  });

  it('a chart averages several hours when hours would be too close, and says so', () => {
    const svg = lineChartSvg(
      chart({
        startS: END_S - 30 * DAY_S,
        series: [{ name: 'Processor', points: hourlyPoints(720, (index) => index % 2) }],
      }),
    );
    assert.ok(svgTexts(svg).includes('%, averages of 6 hours'));
    assert.equal(svgLines(svg)[0]?.[0]?.split('L').length, 120);
  });

  it('a chart distinguishes two series by more than color', () => {
    const series = ['In', 'Out'].map((name) => ({ name, points: hourlyPoints(24, () => 1e6) }));
    const svg = lineChartSvg(chart({ title: 'Network', unit: 'bits_per_s', series }));
    assert.deepEqual(svgTexts(svg).slice(0, 4), ['Network', 'Mbit/s', 'In', 'Out']);
    const dashes = [...svg.matchAll(/stroke-dasharray="([^"]*)"/g)].map(([, dash]) => dash);
    assert.deepEqual(dashes, ['none', '7 4', 'none', '7 4']);
  });

  it('a chart reaches up to the known maximum', () => {
    const points = hourlyPoints(24, () => 700);
    const svg = lineChartSvg(chart({ unit: 'mebibytes', max: 3_072, series: [{ name: 'Memory', points }] }));
    assert.deepEqual(svgTexts(svg).slice(1, 7), ['GiB', '0', '1', '2', '3', 'UTC']);
  });

  it('a chart escapes text written by others', () => {
    const title = `<script>&"'`;
    const svg = lineChartSvg(
      chart({
        title,
        series: [
          { name: '\u0000<b>', points: [] },
          { name: '\ud800', points: [] },
        ],
      }),
    );
    assert.doesNotMatch(svg, /<script|<b>|\0/);
    assert.match(svg, /&#60;script&#62;&#38;&#34;&#39;/);
    assert.ok(svg.isWellFormed());
  });
});

it('amounts are shown in bits, bytes, or powers of two, depending on their unit', () => {
  const cases: [number, ChartUnit, string][] = [
    [12.345, 'percent', '12.3%'],
    [512, 'mebibytes', '512 MiB'],
    [1_536, 'mebibytes', '1.5 GiB'],
    [999, 'bytes_per_s', '999 B/s'],
    [1_500_000, 'bytes_per_s', '1.5 MB/s'],
    [125, 'bits_per_s', '1 kbit/s'],
    [1_250_000, 'bits_per_s', '10 Mbit/s'],
    [0, 'bits_per_s', '0 bit/s'],
    [Number.NaN, 'percent', '0%'],
  ];
  for (const [value, unit, shown] of cases) assert.equal(formatAmount(value, unit), shown);
});

it('a chart of any numbers has only finite coordinates inside the picture', () => {
  const value = fc.oneof(fc.double(), fc.constant(0), fc.constantFrom(1e308, -1e308, 5e-324));
  const time = fc.oneof(
    fc.integer({ min: END_S - 40 * DAY_S, max: END_S + DAY_S }),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1),
  );
  const given = fc.record({
    points: fc.array(fc.tuple(time, value), { maxLength: 60 }),
    unit: fc.constantFrom<ChartUnit>('percent', 'mebibytes', 'bytes_per_s', 'bits_per_s'),
    spanS: fc.constantFrom(0, -5, 1, HOUR_S, DAY_S, 7 * DAY_S, 30 * DAY_S, 4_000 * DAY_S),
    width: fc.integer({ min: 320, max: 1_200 }),
    count: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(given, ({ points, unit, spanS, width, count }) => {
      const series = Array.from({ length: count }, (_, index) => ({ name: `Series ${index}`, points }));
      const drawn = chart({ unit, series, width, startS: END_S - spanS });
      const svg = lineChartSvg(drawn);
      assert.doesNotMatch(svg + chartAlt(drawn), /NaN|Infinity|undefined|null/);
      for (const [, path = ''] of svg.matchAll(/ d="([^"]*)"/g)) {
        for (const [, x, y] of path.matchAll(/(-?[\d.e+]+),(-?[\d.e+]+)/g)) {
          assert.ok(Number(x) >= 0 && Number(x) <= width + 1, `${x} in ${path}`);
          assert.ok(Number(y) >= 0 && Number(y) <= drawn.height, `${y} in ${path}`);
        }
      }
      assert.ok(svgTexts(svg).length < 60);
    }),
    { numRuns: PROPERTY_RUNS },
  );
});
