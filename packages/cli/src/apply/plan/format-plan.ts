/** A plan for a person's eyes, and as data. */
import type { Cost } from './cost.ts';
import type { ChangeType, Kind, Plan, PlanItem } from './plan.ts';

const CHANGE_STYLES: Readonly<Record<ChangeType, { readonly sign: string; readonly label: string }>> = {
  wait: { sign: '…', label: 'wait until it runs' },
  create: { sign: '+', label: 'create' },
  change: { sign: '~', label: 'change' },
  replace: { sign: '-/+', label: 'replace, all that is on it is destroyed' },
  rebuild: { sign: '-/+', label: 'rebuild, its disk is destroyed' },
  destroy: { sign: '-', label: 'destroy' },
};

const INDENT = '      ';

export function formatPlan({ project, items, notes }: Plan, cost: Cost): string {
  const lines =
    items.length === 0
      ? [
          `Project ${project} is as the file says${notes.length > 0 ? ', but for what cannot be changed' : ''}: nothing to do.`,
        ]
      : [`Project ${project}:`, ...items.flatMap(formatItemLines)];
  const noted = notes.map((note) => `  !   ${note}`);
  return [...lines, ...(noted.length > 0 ? ['', ...noted] : []), ...formatCost(cost, items.length > 0)].join(
    '\n',
  );
}

function formatItemLines({ changeType, kind, name, reasons }: PlanItem): string[] {
  const { sign: mark, label } = CHANGE_STYLES[changeType];
  return [
    `  ${mark.padEnd(3)} ${formatKind(kind)} ${name}: ${label}`,
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
      ? ['Balance:           not for this token to read']
      : [`Balance:           ${usd(balance_usd)}${acts ? `, ${usd(balance_after_usd)} afterwards` : ''}`];
  return [
    '',
    ...(acts ? [`Charged now:       ${usd(charged_usd)}`] : []),
    `${acts ? 'Monthly from then:' : 'Monthly:          '} ${usd(monthly_usd)} for ${count}`,
    ...(acts ? balance : []),
  ];
}

function formatNotRenewed(count: number, servers: number): string {
  if (count === 0) return '';
  return count === servers ? ', not renewed' : `, ${count} of them not renewed`;
}

export function formatKind(kind: Kind): string {
  return { ssh_key: 'SSH key', firewall_group: 'firewall group', volume: 'volume', server: 'server' }[kind];
}

/** `create server web-1`, for what is said of one item after it was done. */
export function formatItem({ changeType, kind, name }: PlanItem): string {
  return `${CHANGE_STYLES[changeType].sign} ${formatKind(kind)} ${name}`;
}

/** The end of the sentence that asks: what is charged, and what is lost. */
export function describeConsequences({ items }: Plan, { charged_usd }: Cost): string {
  const lost = items.flatMap(({ destroys }) => destroys ?? []);
  const parts = [
    `do the ${items.length === 1 ? 'one thing' : `${items.length} things`} above`,
    ...(charged_usd > 0 ? [`charge USD ${charged_usd.toFixed(2)} now`] : []),
    ...(lost.length > 0 ? [`destroy for ever ${lost.join(', ')}`] : []),
  ];
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? '');
}

/** What `-o json` shows of a plan. */
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
