/** Formats a plan for people and as data. */

import type { ItemResult, ResultStatus } from '../execute/state.ts';
import type { Cost } from './cost.ts';
import { type ChangeType, KIND_NAMES, type Plan, type PlanItem } from './plan.ts';

const CHANGE_STYLES: Readonly<Record<ChangeType, { readonly sign: string; readonly label: string }>> = {
  wait: { sign: '…', label: 'wait until it is running' },
  create: { sign: '+', label: 'create' },
  change: { sign: '~', label: 'change' },
  replace: { sign: '-/+', label: 'replace, everything on it is erased' },
  rebuild: { sign: '-/+', label: 'rebuild, its disk is erased' },
  destroy: { sign: '-', label: 'delete' },
};

const INDENT = '      ';

export function formatPlan({ project, items, notes }: Plan, cost: Cost): string {
  const except = notes.length > 0 ? ', except for what cannot be changed' : '';
  const lines =
    items.length === 0
      ? [`Project ${project} matches the file${except}: nothing to do.`]
      : [`Project ${project}:`, ...items.flatMap(formatItemLines)];
  const noted = notes.map((note) => `  !   ${note}`);
  return [...lines, ...(noted.length > 0 ? ['', ...noted] : []), ...formatCost(cost, items.length > 0)].join(
    '\n',
  );
}

function formatItemLines({ changeType, kind, name, reasons }: PlanItem): string[] {
  const { sign: mark, label } = CHANGE_STYLES[changeType];
  return [
    `  ${mark.padEnd(3)} ${KIND_NAMES[kind]} ${name}: ${label}`,
    ...reasons.map((reason) => INDENT + reason),
  ];
}

function formatCost(cost: Cost, acts: boolean): string[] {
  if (cost.servers === 0 && cost.charged_usd === 0) return [];
  const { charged_usd, monthly_usd, servers, not_renewed: ending, balance_usd, balance_after_usd } = cost;
  const usd = (amount: number) => `USD ${amount.toFixed(2)}`;
  const count = `${servers === 1 ? '1 server' : `${servers} servers`}${formatNotRenewed(ending, servers)}`;
  const balance =
    balance_usd === null || balance_after_usd === null
      ? ['Balance:            requires a token with scope billing']
      : [`Balance:            ${usd(balance_usd)}${acts ? `, ${usd(balance_after_usd)} afterwards` : ''}`];
  return [
    '',
    ...(acts ? [`Charged now:        ${usd(charged_usd)}`] : []),
    `${acts ? 'Monthly afterwards:' : 'Monthly:           '} ${usd(monthly_usd)} for ${count}`,
    ...(acts ? balance : []),
  ];
}

function formatNotRenewed(count: number, servers: number): string {
  if (count === 0) return '';
  return count === servers ? ', which do not renew' : `, ${count} of which do not renew`;
}

/** `+ server web-1`, for progress and results. */
export function formatItem({ changeType, kind, name }: PlanItem): string {
  return `${CHANGE_STYLES[changeType].sign} ${KIND_NAMES[kind]} ${name}`;
}

/** Completes the sentence of the confirmation: the charge, and the resources that are lost. */
export function describeConsequences({ items }: Plan, { charged_usd }: Cost): string {
  const lost = items.flatMap(({ destroys }) => destroys ?? []);
  const parts = [
    `apply the ${items.length === 1 ? 'change' : `${items.length} changes`} above`,
    ...(charged_usd > 0 ? [`charge USD ${charged_usd.toFixed(2)} now`] : []),
    ...(lost.length > 0 ? [`permanently delete ${lost.join(', ')}`] : []),
  ];
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? '');
}

/** The plan in the output of `-o json`. */
export function toPlanJson({ project, items, notes }: Plan, cost: Cost): object {
  const steps = items.map(({ changeType, kind, name, id, reasons, destroys }) => ({
    action: changeType,
    kind,
    name,
    id,
    reasons,
    destroys,
  }));
  return { project, steps, notes, cost };
}

const STATUS_LABELS: Readonly<Record<ResultStatus, string>> = {
  done: 'done',
  failed: 'FAILED',
  skipped: 'SKIPPED',
  left: 'left',
};
const WIDTH = 8;

export function formatResults(results: readonly ItemResult[]): string[] {
  const lines = results.map(({ item, status, message, id }) => {
    const which = id === null ? '' : ` (${id})`;
    const suffix = message === null ? '' : `: ${message}`;
    return `${STATUS_LABELS[status].padEnd(WIDTH)}${formatItem(item)}${which}${suffix}`;
  });
  return [...lines, ...formatCharged(results)];
}

/** Shown if the charge differs from the announced one. A server that fails to install later is refunded. */
function formatCharged(results: readonly ItemResult[]): string[] {
  const orders = results.flatMap(({ item, id }) =>
    item.actions.flatMap((act) =>
      act.do === 'create_server' ? [{ usd: act.priceUsd, isMade: id !== null && id !== item.id }] : [],
    ),
  );
  const sum = (some: typeof orders) => some.reduce((total, { usd }) => total + usd, 0).toFixed(2);
  const made = orders.filter(({ isMade }) => isMade);
  return made.length === orders.length
    ? []
    : [`Charged: USD ${sum(made)} of USD ${sum(orders)}; servers that were not created cost nothing`];
}

export function toResultJson({ item, status, message, id, error, timedOut }: ItemResult): object {
  const { kind, name, changeType } = item;
  return { kind, name, action: changeType, id, status, message, timed_out: timedOut, error };
}
