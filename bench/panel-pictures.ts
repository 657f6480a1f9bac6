/**
 * The cost of panel images: CPU of the whole process, including the rendering thread, for each uncached
 * image.
 */
import { PngRenderer, type PngScale } from '../src/http/panel/png-renderer.ts';
import { lineChartSvg } from '../src/panel/charts/chart.ts';
import type { LineChart } from '../src/panel/charts/plot.ts';
import { qrCode } from '../src/panel/money/qr.ts';
import type { Figure } from './figure.ts';

const ROUNDS = 60;
const HOURS = 720;
const HOUR_S = 3_600;
const START_S = 1_772_755_200;

export async function benchPanelPictures(): Promise<Figure[]> {
  const chart = (round: number) => lineChartSvg(monthOf(round));
  const code = (round: number) =>
    qrCode(`bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080?amount=0.0${round + 1}`).svg;
  return [
    figure('a chart of 30 days', await cpuMs(chart, 1), 40, 20),
    figure('a chart of 30 days at double resolution', await cpuMs(chart, 2), 80, 40),
    figure('a QR code', await cpuMs(code, 1), 12, 6),
  ];
}

function figure(name: string, value: number, limit: number, goal: number): Figure {
  return { name: `CPU of ${name}`, value, unit: 'ms', limit, goal, bound: 'max' };
}

/** Returns the mean per image. Every image is different, so no cache helps. */
async function cpuMs(svgOf: (round: number) => string, scale: PngScale): Promise<number> {
  const renderer = new PngRenderer();
  await renderer.png(svgOf(ROUNDS), { scale });
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) await renderer.png(svgOf(round), { scale });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / ROUNDS;
}

function monthOf(round: number): LineChart {
  const points = (phase: number) =>
    Array.from({ length: HOURS }, (_, hour) => [
      START_S + hour * HOUR_S,
      400_000 * (1.1 + Math.sin(hour / 4 + phase + round)),
    ]);
  return {
    title: 'Network',
    unit: 'bits_per_s',
    series: [
      { name: 'In', points: points(0) },
      { name: 'Out', points: points(2) },
    ],
    startS: START_S,
    endS: START_S + HOURS * HOUR_S,
    stepS: HOUR_S,
    width: 720,
    height: 240,
    theme: 'light',
  };
}
