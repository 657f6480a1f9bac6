/** A server's load in the last hour, and its transfer of the month, on its overview. */
import { serverPagePath } from '../../spec/paths.ts';
import type { Metrics } from '../../spec/schemas/server-actions.ts';
import { formatAmount } from '../charts/axes.ts';
import { section } from '../parts/components.ts';
import { formatTib } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { type ChartName, chartPicture, chartsEnd, type Period, serverChart } from './metrics.ts';

/** The page of metrics is updated by the minute. */
export const LOAD_EVERY_S = 120;
/** Its step has points for the last hour. */
export const LOAD_PERIOD: Period = '1h';
const CHARTS = ['cpu', 'memory', 'network'] as const satisfies readonly ChartName[];

export interface LoadData {
  readonly ramMb: number;
  readonly metrics: Metrics;
  readonly transfer: {
    /** In TiB. */
    readonly usedTb: string;
    readonly includedTb: number;
  };
}

export function loadSection({ ramMb, metrics, transfer }: LoadData): Html {
  const endS = chartsEnd(metrics);
  const loads = CHARTS.map((name) => {
    const chart = serverChart({ metrics, ramMb, endS, period: LOAD_PERIOD, isSmall: true }, name, 'light');
    const latest = chart.series.map(({ name: word, points }) => {
      const [at = 0, value = 0] = points.at(-1) ?? [];
      const text = at > chart.startS ? formatAmount(value, chart.unit).replace(' ', '\u00a0') : '–';
      return chart.series.length > 1 ? `${text}\u00a0${word}` : text;
    });
    const picture = chartPicture(metrics.server, LOAD_PERIOD, name, chart);
    return html`<div><dt>${chart.title}</dt><dd>${latest.join(', ')}
${picture}</dd></div>
`;
  });
  const metricsPath = `${serverPagePath(metrics.server, 'metrics')}?period=${LOAD_PERIOD}`;
  return section(
    'Last hour',
    html`<dl class="load">${loads}
<div><dt>Transfer this month</dt><dd>${transferText(transfer)}</dd></div></dl>
<p><a href="${metricsPath}">All metrics</a></p>`,
  );
}

function transferText({ usedTb, includedTb }: LoadData['transfer']): Html {
  const share = `${Math.round((Number(usedTb) / includedTb) * 100)}% of the included transfer`;
  return html`${usedTb} of ${formatTib(includedTb)}
<progress max="${includedTb}" value="${usedTb}" aria-label="${share}"></progress>`;
}
