import { type FiguresView, figuresCsv } from '../../../domain/staff/figures.ts';
import { fail } from '../../../kernel/fail.ts';
import { lineChartSvg } from '../../../panel/charts/chart.ts';
import { chartValues } from '../../../panel/charts/values.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import {
  type Capacity,
  FIGURES_PATH,
  figureChart,
  isFigureChart,
  overviewView,
  type StatusFinding,
} from '../../../panel/staff/overview.ts';
import { FIGURE_PERIODS } from '../../../spec/staff/figures.ts';
import { field } from '../../form.ts';
import { pngRenderer } from '../../panel/png-renderer.ts';
import { type ConsoleContext, type ConsoleFile, type ConsolePage, csvFile } from '../page.ts';

async function readFigures({ query, read }: Pick<ConsoleContext, 'query' | 'read'>): Promise<FiguresView> {
  const word = field(query, 'period');
  const period = Object.hasOwn(FIGURE_PERIODS, word) ? word : 'day';
  return await read<FiguresView>('figures.get', {}, { period });
}

export const OVERVIEW_PAGE: ConsolePage = {
  path: CONSOLE_PATHS.overview,
  access: 'staff',
  render: async ({ query, read }) => {
    const [{ findings }, figures, { regions }] = await Promise.all([
      read<{ findings: StatusFinding[] }>('status.get'),
      readFigures({ query, read }),
      read<{ regions: Capacity[] }>('capacity.get'),
    ]);
    return overviewView({ findings, figures, capacity: regions });
  },
};

export const OVERVIEW_FILES: readonly ConsoleFile[] = [
  {
    path: `${FIGURES_PATH}.csv`,
    read: async (context) => {
      const figures = await readFigures(context);
      return csvFile(`figures-${figures.period}-${figures.end.slice(0, 10)}.csv`, figuresCsv(figures));
    },
  },
  {
    path: `${FIGURES_PATH}/{file}`,
    read: async (context) => {
      const { params, query } = context;
      const [, name = '', type] = /^(\w+)\.(png|json)$/.exec(params.file ?? '') ?? [];
      if (!isFigureChart(name)) fail('not_found');
      const theme = field(query, 'theme') === 'dark' ? 'dark' : 'light';
      const chart = figureChart(await readFigures(context), name, theme);
      if (type === 'json') return { type: 'application/json', content: JSON.stringify(chartValues(chart)) };
      const scale = field(query, 'scale') === '2' ? 2 : 1;
      return { type: 'image/png', content: await pngRenderer.png(lineChartSvg(chart), { scale }) };
    },
  },
];
