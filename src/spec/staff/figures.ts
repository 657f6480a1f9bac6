/** The figures of the business, as staff see them over time. */

interface FigureRow {
  readonly title: string;
  /** A flow adds up over a period; a level is how much there is. */
  readonly kind: 'flow' | 'level';
  readonly unit: 'cents' | 'count';
  /** How it divides into parts. */
  readonly by?: 'coin' | 'region';
}

export const FIGURES = {
  sign_ups: { title: 'Sign-ups', kind: 'flow', unit: 'count' },
  servers_created: { title: 'Servers created', kind: 'flow', unit: 'count' },
  servers_destroyed: { title: 'Servers destroyed', kind: 'flow', unit: 'count' },
  topups: { title: 'Top-ups credited', kind: 'flow', unit: 'cents', by: 'coin' },
  bonuses: { title: 'Bonuses granted', kind: 'flow', unit: 'cents' },
  reversals: { title: 'Credits taken back', kind: 'flow', unit: 'cents' },
  charges: { title: 'Charges', kind: 'flow', unit: 'cents' },
  refunds: { title: 'Refunds to balances', kind: 'flow', unit: 'cents' },
  adjustments: { title: 'Adjustments', kind: 'flow', unit: 'cents' },
  revenue: { title: 'Revenue recognized', kind: 'flow', unit: 'cents' },
  customers: { title: 'Customers', kind: 'level', unit: 'count' },
  paying_customers: { title: 'Customers with servers', kind: 'level', unit: 'count' },
  servers: { title: 'Servers', kind: 'level', unit: 'count', by: 'region' },
  mrr: { title: 'Monthly recurring revenue', kind: 'level', unit: 'cents' },
  balances: { title: 'Sum of balances', kind: 'level', unit: 'cents' },
} as const satisfies Readonly<Record<string, FigureRow>>;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];

/** The selectable periods: how far back, and the width of a point. */
export const FIGURE_PERIODS = {
  day: { title: '24 hours', hours: 24, stepHours: 1 },
  month: { title: '30 days', hours: 30 * 24, stepHours: 24 },
  year: { title: 'A year', hours: 52 * 7 * 24, stepHours: 7 * 24 },
} as const;
export type FigurePeriod = keyof typeof FIGURE_PERIODS;
export const FIGURE_PERIOD_NAMES = Object.keys(FIGURE_PERIODS) as FigurePeriod[];

/** A year, and a month to look back from its start. */
export const FIGURES_KEPT_DAYS = 400;
