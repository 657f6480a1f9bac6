/** The transparency report: legal orders by half-year, in counts. */
import {
  LEGAL_KIND_NAMES,
  LEGAL_RESULT_NAMES,
  LEGAL_STATES,
  REPORT_FIGURES,
} from '../../spec/staff/legal.ts';
import { buttonLink, section, statusBadge, table } from '../parts/components.ts';
import { formatNumber } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { CONSOLE_PATHS, type ConsoleView } from '../staff/layout.ts';

export interface Report {
  readonly counts_gagged: boolean;
  readonly half_years: readonly {
    /** `2026-2` */
    readonly half: string;
    readonly current: boolean;
    readonly orders: readonly {
      readonly kind: keyof typeof LEGAL_KIND_NAMES | 'all';
      readonly received: number;
      readonly states: Readonly<Record<(typeof LEGAL_STATES)[number], number>>;
    }[];
    readonly figures: Readonly<Record<keyof typeof REPORT_FIGURES, number>>;
  }[];
}

export function transparencyView(report: Report): View {
  return {
    title: 'Transparency report',
    body: html`<p>How many legal orders we received, and their results. A count belongs to the half-year in
which the order arrived, and changes until the order is closed.</p>
${reportTables(report)}`,
  };
}

function reportTables({ half_years: halves, counts_gagged: gagged }: Report): Html {
  return html`<p>${
    gagged
      ? 'Orders that we may not speak about are counted.'
      : 'An order that we may not speak about is counted once its gag has ended.'
  }</p>
${section('Summary', summary(halves))}
${halves.filter((each) => receivedIn(each) > 0).map((each) => section(halfTitle(each), ordersTable(each)))}`;
}

type HalfYear = Report['half_years'][number];

const receivedIn = ({ orders }: HalfYear): number => orders.at(-1)?.received ?? 0;

const number = (name: string) => ({ name, class: 'number' }) as const;

function summary(halves: readonly HalfYear[]): Html {
  const row = (title: string, count: (each: HalfYear) => number) => [
    title,
    ...halves.map((each) => formatNumber(count(each))),
  ];
  return table({
    caption: 'By half-year',
    columns: ['Count', ...halves.map((each) => number(halfTitle(each)))],
    rows: [
      row('Legal orders', receivedIn),
      ...Object.entries(REPORT_FIGURES).map(([name, title]) =>
        row(title, ({ figures }) => figures[name as keyof typeof REPORT_FIGURES]),
      ),
    ],
  });
}

function ordersTable(each: HalfYear): Html {
  return table({
    caption: `Legal orders, ${halfTitle(each)}`,
    columns: ['Kind', number('Received'), ...LEGAL_STATES.map((state) => number(LEGAL_RESULT_NAMES[state]))],
    rows: each.orders.map(({ kind, received, states }) => [
      kind === 'all' ? 'All' : LEGAL_KIND_NAMES[kind],
      formatNumber(received),
      ...LEGAL_STATES.map((state) => formatNumber(states[state])),
    ]),
  });
}

/** `2026-2` → `2026, second half`. */
function halfTitle({ half, current }: { readonly half: string; readonly current: boolean }): string {
  const [year, part] = half.split('-');
  return `${year}, ${part === '1' ? 'first' : 'second'} half${current ? ' so far' : ''}`;
}

/** As staff see it before it is published. */
export function reportPreview(report: Report & { readonly published: boolean }): ConsoleView {
  const { published } = report;
  return {
    title: 'Transparency report',
    section: 'transparency',
    status: published ? statusBadge('published', 'good') : statusBadge('not published', 'off'),
    body: html`<p>${
      published
        ? 'Customers read this page, with a link in the footer.'
        : 'This is how customers would read it.'
    } Two switches decide whether it is published, and whether orders are counted whose gag is in force.</p>
<p class="page-actions">${buttonLink('Publish', `${CONSOLE_PATHS.switches}/transparency`, 'plain')}
${buttonLink('Orders with a gag', `${CONSOLE_PATHS.switches}/transparency-gagged`, 'plain')}</p>
${reportTables(report)}`,
  };
}
