/** A picture of a report: each figure as a share of its limit. */
import renderPng from '../src/http/panel/png-worker.ts';
import { judge, type Measured, type Report } from './report.ts';

const WIDTH = 960;
const ROW = 22;
const TOP = 40;
const LABELS = 430;
/** The limit is at half of this width. A figure beyond twice its limit is cut off. */
const BARS = WIDTH - LABELS - 20;
const COLORS = { 'goal met': '#2e7d32', 'within limit': '#1565c0', MISSED: '#c62828' } as const;

export function plotReport(report: Report): Uint8Array {
  return renderPng({ svg: reportSvg(report), scale: 2 });
}

function reportSvg({ commit, figures }: Report): string {
  const shown = figures.filter(({ limit }) => limit > 0);
  const limitX = LABELS + BARS / 2;
  const height = TOP + shown.length * ROW + 10;
  const size = `width="${WIDTH}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif">
<rect ${size} fill="#ffffff"/>
<text x="10" y="24" font-size="14">${commit.slice(0, 12)}: figures as a share of their limits</text>
${shown.map(bar).join('\n')}
<line x1="${limitX}" x2="${limitX}" y1="${TOP - 6}" y2="${height - 6}" stroke="#333333"/>
</svg>`;
}

function bar(figure: Measured, index: number): string {
  const y = TOP + index * ROW;
  const x = (value: number) => LABELS + Math.min(Math.max(value / figure.limit, 0), 2) * (BARS / 2);
  const width = Math.max(x(figure.median) - LABELS, 1);
  const label = `${figure.name} ${figure.median.toFixed(2)} ${figure.unit}`.trim();
  const range = `x1="${x(figure.low).toFixed(1)}" x2="${x(figure.high).toFixed(1)}"`;
  return `<text x="${LABELS - 8}" y="${y + 14}" font-size="11" text-anchor="end">${escapeXml(label)}</text>
<rect x="${LABELS}" y="${y + 4}" width="${width.toFixed(1)}" height="12" fill="${COLORS[judge(figure)]}"/>
<line ${range} y1="${y + 10}" y2="${y + 10}" stroke="#000000"/>`;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
