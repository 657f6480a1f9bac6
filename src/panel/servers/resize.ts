/** Resizing a server: its other plans with their prices, and the form. */
import type { Server } from '../../spec/schemas/server.ts';
import { section, table, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatGib, formatMemory, formatMonths, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { blockedReason, type ServerPage, serverView } from './layout.ts';

interface ResizeOption {
  readonly plan: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
  readonly dueUsd: number;
  readonly creditUsd: number;
  readonly cycleUsd: number;
}

interface ResizeData extends ServerPage {
  readonly options: readonly ResizeOption[];
  readonly forms: FormContext;
}

/** The field with the price that the page shows for a plan: a higher one is not charged. */
export const shownPriceField = (plan: string) => `price.${plan}`;

export function resizeView(data: ResizeData): View {
  return serverView(data, 'resize', part('resize', section('Resize', resizeForm(data))));
}

function resizeForm(data: ResizeData): Html {
  const { forms, server, options } = data;
  const blocked = blockedReason(data, 'resize');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  if (options.length === 0) return html`<p>There is no other plan for this server.</p>`;
  const fields = new Fields(forms, 'resize');
  const isRunning = server.status === 'running';
  return html`<p>The server has plan <strong>${server.plan}</strong> with ${data.cpu} vCPU,
${formatMemory(data.ramMb)}, and ${formatGib(server.disk_gb)}. It keeps its addresses and data, and is
paid until
${time(server.paid_until)} as before. We charge or refund the difference for the rest of the cycle.</p>
${optionTable(options, server)}
${form(
  forms,
  { name: 'resize' },
  html`${options.map(({ plan, dueUsd }) => {
    return html`<input type="hidden" name="${shownPriceField(plan)}" value="${dueUsd}">\n`;
  })}${fields.select('plan', 'New plan', {
    choices: options.map((option) => [option.plan, `${option.plan}: ${describePrice(option)}`] as const),
  })}
${fields.checkbox('resize_disk', 'Enlarge the disk to that of the plan', {
  hint: 'A disk cannot shrink: with a larger disk, smaller plans are no longer possible.',
})}
${isRunning && fields.checkbox('restart', 'Restart the server', { hint: 'It is down for about a minute.' })}
<button>Resize server</button>`,
)}`;
}

function optionTable(options: readonly ResizeOption[], server: Server): Html {
  return table({
    caption: 'Plans',
    columns: ['Plan', 'vCPU', 'Memory', 'Disk', 'Now', `Then, for ${formatMonths(server.billing_months)}`],
    rows: options.map((option) => [
      option.plan,
      option.cpu,
      formatMemory(option.ramMb),
      formatGib(option.diskGb),
      describePrice(option),
      usd(option.cycleUsd),
    ]),
  });
}

function describePrice({ dueUsd, creditUsd }: ResizeOption): string {
  return creditUsd > 0 ? `${usd(creditUsd)} back` : usd(dueUsd);
}
