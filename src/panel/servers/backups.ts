/** The backups of a server on a schedule. */
import { LIMITS } from '../../spec/limits.ts';
import { type BackupPolicy, WEEKDAYS } from '../../spec/schemas/backup-policy.ts';
import { detailList, section, statusBadge, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatMonths, usd, usdValue } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { part } from '../parts/live.ts';
import { blockedReason, type ServerPage } from './layout.ts';

/** The choice that stands for daily backups; each weekday stands for weekly ones. */
export const DAILY = 'day';

interface BackupsData extends ServerPage {
  readonly policy: BackupPolicy;
  readonly forms: FormContext;
}

export function backupsSection(data: BackupsData): Html | false {
  if (!data.capabilities.snapshots) return false;
  const { policy } = data;
  return section(
    'Backups',
    html`<p>A backup is a snapshot that we take on a schedule, listed with the snapshots. ${priceOf(data)}</p>
${part('backups', policy.enabled && backupDetails(policy))}
${part('policy', policyForm(data))}`,
  );
}

function priceOf({ policy, server }: BackupsData): string {
  const { enabled, price_usd_cycle: cycleUsd, price_usd_now: nowUsd } = policy;
  if (cycleUsd === 0) return 'Backups are free.';
  const price = `${usd(cycleUsd)} for ${formatMonths(server.billing_months)}`;
  if (enabled) return `They cost ${price}, as a part of the price of the server.`;
  return `They cost ${price}, and ${usd(nowUsd)} now for the rest of the billing cycle.`;
}

const TONES = { success: 'good', error: 'bad', missed: 'bad' } as const;
const STATUS_WORDS = { success: 'ready', error: 'failed', missed: 'missed' } as const;

function backupDetails({ window, last }: BackupPolicy): Html {
  return detailList([
    ['Next backup', window && html`${time(window.start)} or up to an hour later`],
    [
      'Last backup',
      last && html`${statusBadge(STATUS_WORDS[last.status], TONES[last.status])} ${time(last.at)}`,
    ],
  ]);
}

function policyForm(data: BackupsData): Html {
  const { forms, policy } = data;
  const blocked = blockedReason(data, 'update');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  const fields = new Fields(forms, 'backups');
  const hour = (n: number) => `${String(n).padStart(2, '0')}:00`;
  const days = WEEKDAYS.map((day) => [day, `Every ${day.slice(0, 1).toUpperCase()}${day.slice(1)}`] as const);
  return form(
    forms,
    { name: 'backups' },
    html`<input type="hidden" name="max_price_usd" value="${usdValue(policy.price_usd_now + 0.01)}">
${fields.checkbox('enabled', html`Back up this server`, { value: policy.enabled })}
${fields.select('schedule', 'When', {
  value: policy.weekday ?? DAILY,
  choices: [[DAILY, 'Every day'], ...days],
})}
${fields.select('hour_utc', 'Hour (UTC)', {
  value: String(policy.hour_utc),
  choices: Array.from({ length: 24 }, (_, n) => [String(n), `${hour(n)} to ${hour((n + 1) % 24)}`] as const),
})}
${fields.text('keep', 'Backups to keep', {
  type: 'number',
  value: String(policy.keep),
  min: 1,
  max: LIMITS.backupsKeptMax,
  required: true,
  hint: 'The oldest is deleted when a new one is ready, except protected ones.',
})}
<button>Save backups</button>`,
  );
}
