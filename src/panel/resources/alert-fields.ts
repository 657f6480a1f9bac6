/** The fields of an alert, in the form that creates it and in the form that changes it. */
import { ALERT_METRIC_NAMES, ALERT_METRICS, ALERT_WINDOW_NAMES, ALERT_WINDOWS } from '../../spec/alerts.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Alert } from '../../spec/schemas/alert.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';

/** How the form selects servers; its field is `select`. */
export const SELECTIONS = { labels: 'By labels', servers: 'From the list' } as const;

type Servers = readonly Pick<Server, 'id' | 'name'>[];

/** `alert` is null for a new one. */
export function alertFields(forms: FormContext, name: string, alert: Alert | null, servers: Servers): Html {
  const fields = new Fields(forms, name);
  return html`${fields.text('name', 'Name', {
    value: alert?.name ?? '',
    required: true,
    maxLength: LIMITS.nameMaxChars,
    autocomplete: 'off',
  })}
${fields.select('metric', 'Metric', {
  value: alert?.metric ?? 'cpu_pct',
  choices: ALERT_METRIC_NAMES.map((metric) => [metric, metricTitle(metric)] as const),
})}
${fields.select('compare', 'Fires', {
  value: alert?.compare ?? 'gt',
  choices: [
    ['gt', 'above the value'],
    ['lt', 'below the value'],
  ],
})}
${fields.text('value', 'Value', {
  value: alert?.value == null ? '' : String(alert.value),
  inputmode: 'decimal',
  size: 12,
  autocomplete: 'off',
  hint: 'In percent, or in bytes per second. Not used for Unreachable.',
})}
${fields.select('window', 'For', {
  value: alert?.window ?? '5m',
  choices: ALERT_WINDOW_NAMES.map((window) => [window, `${ALERT_WINDOWS[window]} minutes`] as const),
  hint: 'The alert fires when every minute of this time meets the condition.',
})}
${selectionFields(fields, alert, servers)}
${alert && fields.checkbox('enabled', 'Enabled', { value: alert.enabled })}`;
}

function metricTitle(metric: (typeof ALERT_METRIC_NAMES)[number]): string {
  const { title, unit } = ALERT_METRICS[metric];
  if (unit === 'none') return title;
  return `${title} (${unit === 'percent' ? 'percent' : 'bytes per second'})`;
}

function selectionFields(fields: Fields, alert: Alert | null, servers: Servers): Html {
  const isListed = alert !== null && alert.servers !== null;
  const label = labelsOf(servers);
  const boxes = servers.map((server) => {
    const ticked = fields.isChecked(`servers.${server.id}`, alert?.servers?.includes(server.id) ?? false);
    const checked = ticked && new Html(' checked');
    const input = html`<input type="checkbox" name="servers.${server.id}"${checked}>`;
    return html`<label class="choice">${input} <span>${label(server)}</span></label>\n`;
  });
  return html`<fieldset><legend>Servers</legend>
${fields.radio('select', 'labels', SELECTIONS.labels, { checked: !isListed })}
${fields.text('label_selector', 'Labels', {
  value: alert?.label_selector ?? '',
  placeholder: 'env=prod,team=web',
  maxLength: LIMITS.labelSelectorMaxChars,
  autocomplete: 'off',
  hint: 'A server must have all of them. Leave it empty for all servers.',
})}
${fields.radio('select', 'servers', SELECTIONS.servers, { checked: isListed })}
${fields.notes('servers')}
${boxes.length > 0 ? html`<div>${boxes}</div>` : html`<p class="hint">You have no servers yet.</p>`}
</fieldset>`;
}
